-- Like `running_counts`, with jobs that wait for a stream worker. Each range is looked up by itself: see there.
SELECT u.lane, l.role, l.concurrency_key, count(*) AS running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN LATERAL (
  (SELECT k.lane FROM hanbeon.job AS k WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high OFFSET 0)
  UNION ALL
  (SELECT k.lane FROM hanbeon.job AS k
   WHERE k.state = 'ready' AND k.dispatched_at IS NOT NULL AND k.lane >= r.low AND k.lane < r.high OFFSET 0)
) AS u
JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
GROUP BY u.lane, l.role, l.concurrency_key
