-- Not by the task's index: for a table that was analysed while it was empty, planners before PostgreSQL 18 consider
-- that whole index, for its order, as cheap as the few entries of the names.
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id + 0
WHERE s.name @in($1 text)
ORDER BY s.name @lock_schedule
