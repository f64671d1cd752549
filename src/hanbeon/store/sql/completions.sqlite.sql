-- name: changed_rows
-- SQLite only: how many rows the statement before has changed.
SELECT changes() AS count

-- name: succeed
-- Own text: there is one writer at a time, so nothing is locked; and each pair of the object is visited once, because
-- SQLite finds a key in it only by a scan.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = n.now, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($2) AS r CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.seq = CAST(r.key AS integer) AND j.fence = r.value ->> 0 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > n.now
RETURNING j.seq, j.id, j.lane, j.fence, j.started_at, n.now

-- name: succeed_batch
-- SQLite only: the plain successes of attempts with the same fence and the same result $5. Whoever runs it counts the
-- changed rows, and rolls back if some are missing: then the general path handles them.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = $5, finished_at = $4, failure_type = NULL, error_message = NULL, locked_until = NULL,
  attempt_status = 'completed'
WHERE j.seq IN (SELECT value FROM json_each($1)) AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4

-- name: succeed_each
-- SQLite only: `succeed_batch` for results that differ, which are beside the jobs in $1.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = $4, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($1) AS r
WHERE j.seq = r.value ->> 0 AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4
