SELECT j.id AS job_id, a.attempt, a.status, a.instance, a.started_at, a.deadline_at, a.ended_at, a.failure_type, a.message
FROM hanbeon.attempt AS a JOIN hanbeon.job AS j ON j.seq = a.job
WHERE j.id = $1 ORDER BY a.attempt
