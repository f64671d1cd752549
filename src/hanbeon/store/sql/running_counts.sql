SELECT j.lane, l.role, l.concurrency_key, count(*) AS running
FROM @rows($1 AS r; low bigint, high bigint)
JOIN hanbeon.job AS j ON j.state = 'running' AND j.lane >= r.low AND j.lane < r.high
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
GROUP BY j.lane, l.role, l.concurrency_key
