INSERT INTO hanbeon.execution (job, task_id, type, schedule_id, scheduled_at, requested_by)
SELECT j.seq, r.task_id, r.type, r.schedule_id, coalesce(r.scheduled_at, j.created_at), r.requested_by
FROM @rows($1 AS r; id @uuid, task_id bigint, type text, schedule_id @uuid, scheduled_at bigint, requested_by text)
JOIN hanbeon.job AS j ON j.id = r.id
