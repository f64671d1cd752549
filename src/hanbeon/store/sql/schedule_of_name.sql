SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.name = $5 AND s.id > $1 AND s.deleted_at IS NULL
  AND (CAST($3 AS boolean) IS NULL OR s.paused = $3)
  AND (CAST($4 AS text) IS NULL OR t.name = $4)
ORDER BY s.id LIMIT $2
