SELECT j.id, l.role, l.concurrency_key, l.task, j.instance, j.started_at
FROM hanbeon.job AS j JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2
ORDER BY j.started_at LIMIT $3
