-- SQLite only: the plain successes of attempts with the same fence and the same result $5. Whoever runs it counts the
-- changed rows, and rolls back if some are missing: then the general path handles them.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = $5, finished_at = $4, failure_type = NULL, error_message = NULL, locked_until = NULL,
  attempt_status = 'completed'
WHERE j.seq IN (SELECT value FROM json_each($1)) AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4
