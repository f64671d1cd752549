INSERT INTO hanbeon.schedule (id, name, task_id, definition, paused, considered_to, timed_since, next_fire_at, due_at,
  declared, created_by, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, n.now, n.now FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id
