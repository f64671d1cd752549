SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id > $1 AND s.deleted_at IS NULL
  AND (CAST($3 AS boolean) IS NULL OR s.paused = $3)
ORDER BY s.id LIMIT $2
