SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id @in($1 @uuid)
ORDER BY s.id
