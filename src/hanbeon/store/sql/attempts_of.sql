-- The job's number first: the view then uses it to find the rows in both tables.
SELECT CAST($1 AS @uuid) AS job_id, a.attempt, a.status, a.instance, a.started_at, a.deadline_at, a.ended_at, a.failure_type, a.message
FROM hanbeon.attempt AS a
WHERE a.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1)) ORDER BY a.attempt
