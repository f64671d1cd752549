-- Lanes of a queue, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.queue_id = $2
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
  AND (CAST($4 AS text) IS NULL OR l.role = $4)
LIMIT $1
