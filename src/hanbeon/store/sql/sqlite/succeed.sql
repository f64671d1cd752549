-- Own text: there is one writer at a time, so nothing is locked; and each pair of the object is visited once, because
-- SQLite finds a key in it only by a scan.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = n.now, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($2) AS r CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.seq = CAST(r.key AS integer) AND j.fence = r.value ->> 0 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > n.now
RETURNING j.seq, j.id, j.lane, j.fence, j.started_at, n.now
