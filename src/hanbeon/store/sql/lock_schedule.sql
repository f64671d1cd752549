SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id = $1 @lock_schedule
