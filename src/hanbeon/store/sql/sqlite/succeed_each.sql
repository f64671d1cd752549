-- SQLite only: `succeed_strip` for results that differ, which are beside the jobs in $1.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = $4, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($1) AS r
WHERE j.seq = r.value ->> 0 AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4
