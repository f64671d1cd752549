INSERT INTO hanbeon.chain (uid, queue_library, state, operation_direction, retries, on_unknown, on_backward_failure,
  job_number, context, run, steps, enqueued, created_by, created_at, changed_at)
SELECT $1, $2, 'EMPTY', 'FORWARD', $3, $4, $5, 0, '{}', 0, 0, 0, $6, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id
