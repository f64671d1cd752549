-- Attempt numbers and the fence continue; the unmet count already has the dependencies that have not succeeded.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'pending', run_at = n.now, retry_count = 0, finished_at = NULL, stop_requested_at = NULL, result = NULL,
  failure_type = NULL, error_message = NULL, progress = NULL, attempt_status = NULL,
  replaced_by = NULL, dispatched_at = NULL
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('failed', 'cancelled')
RETURNING j.seq, j.id, j.lane, n.now
