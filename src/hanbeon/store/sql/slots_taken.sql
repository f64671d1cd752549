-- Like `running_counts`, with jobs that wait for a stream worker.
SELECT u.lane, l.role, l.concurrency_key, count(*) AS running
FROM (
  SELECT k.lane FROM @rows($1 AS r; low bigint, high bigint)
  CROSS JOIN hanbeon.job AS k WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high
  UNION ALL
  SELECT k.lane FROM @rows($1 AS s; low bigint, high bigint)
  CROSS JOIN hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NOT NULL AND k.lane >= s.low AND k.lane < s.high
) AS u
JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
GROUP BY u.lane, l.role, l.concurrency_key
