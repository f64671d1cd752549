SELECT s.id, s.task_id, s.definition, s.considered_to, s.last_fire_at, s.waiting, hanbeon.now() AS now
FROM hanbeon.schedule AS s
WHERE s.waiting IS NOT NULL AND s.id > $2
ORDER BY s.id LIMIT $1 @lock_skip
