SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id > $1 AND s.paused AND s.deleted_at IS NULL
ORDER BY s.id LIMIT $2
