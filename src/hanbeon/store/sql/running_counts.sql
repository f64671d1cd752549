-- CROSS JOIN makes SQLite take the ranges first and find their jobs by index.
SELECT j.lane, l.role, l.concurrency_key, count(*) AS running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN hanbeon.job AS j
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.state = 'running' AND j.lane >= r.low AND j.lane < r.high
GROUP BY j.lane, l.role, l.concurrency_key
