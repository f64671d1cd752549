-- Lanes with a concurrency key, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.concurrency_key = $5 AND l.concurrency_key <> ''
  AND (CAST($2 AS bigint) IS NULL OR l.queue_id = $2)
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
  AND (CAST($4 AS text) IS NULL OR l.role = $4)
LIMIT $1
