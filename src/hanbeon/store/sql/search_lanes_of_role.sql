-- Lanes of a role, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.role = $4
  AND (CAST($2 AS bigint) IS NULL OR l.queue_id = $2)
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
LIMIT $1
