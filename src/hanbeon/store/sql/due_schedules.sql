-- The next schedules that are due and not locked. One that changed in the meantime is read as it is now, or skipped.
SELECT s.id, s.task_id, s.definition, s.considered_to, s.last_fire_at, s.waiting, hanbeon.now() AS now
FROM hanbeon.schedule AS s
WHERE s.due_at <= (SELECT hanbeon.now())
ORDER BY s.due_at LIMIT $1 @lock_skip
