SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.name @in($1 text)
ORDER BY s.name @lock_schedule
