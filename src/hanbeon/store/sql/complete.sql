-- Ends running attempts. The rows are locked and checked by `lock_running` or `expired` in the same transaction.
UPDATE hanbeon.job AS j
SET state = r.state, run_at = coalesce(r.run_at, j.run_at), retry_count = r.retry_count, result = r.result,
  failure_type = r.failure_type, error_message = r.message, finished_at = r.finished_at, locked_until = NULL,
  attempt_status = r.status, free_at = coalesce(r.free_at, j.free_at),
  dispatched_at = CASE WHEN r.finished_at IS NOT NULL THEN j.dispatched_at END
FROM @rows($1 AS r; seq bigint, fence bigint, state text, run_at bigint, retry_count integer, result text,
  failure_type text, message text, finished_at bigint, status text, free_at bigint)
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'running'
RETURNING j.seq
