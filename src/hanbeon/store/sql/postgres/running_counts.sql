-- Own text: the planner would join by range only after reading all running jobs; range by range it uses the index.
SELECT j.lane, l.role, l.concurrency_key, j.running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN LATERAL (
  SELECT k.lane, count(*) AS running FROM hanbeon.job AS k
  WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high
  GROUP BY k.lane
) AS j
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
