-- name: lane_heads
-- Own text: a lateral join keeps the planner on the ready index, and jobs that another instance is claiming are
-- skipped.
SELECT j.seq, j.lane, j.rank
FROM json_array_elements_text($1::json) AS head(lane)
CROSS JOIN LATERAL (
  SELECT k.seq, k.lane, k.rank FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = head.lane::bigint
  ORDER BY k.rank, k.seq LIMIT $2
  FOR NO KEY UPDATE SKIP LOCKED
) AS j
ORDER BY j.lane, j.rank, j.seq

-- name: running_counts
-- Own text: the planner would join by range only after reading all running jobs; range by range it uses the index.
SELECT j.lane, l.role, l.concurrency_key, j.running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN LATERAL (
  SELECT k.lane, count(*) AS running FROM hanbeon.job AS k
  WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high
  GROUP BY k.lane
) AS j
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)

-- name: slots_taken
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
