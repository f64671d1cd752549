INSERT INTO hanbeon.execution (job, task_id, type, schedule_id, scheduled_at, requested_by)
SELECT r.job, r.task_id, r.type, r.schedule_id, r.scheduled_at, r.requested_by
FROM @rows($1 AS r; job bigint, task_id bigint, type text, schedule_id @uuid, scheduled_at bigint, requested_by text)
