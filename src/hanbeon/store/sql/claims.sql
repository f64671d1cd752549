-- name: claim
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET @claimed_by($2; $3)
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
RETURNING @claimed_columns

-- name: lane_heads
SELECT j.seq, j.lane, j.rank
FROM json_each($1) AS head
JOIN hanbeon.job AS j ON j.seq IN (
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = head.value
  ORDER BY k.rank, k.seq LIMIT $2
)
ORDER BY j.lane, j.rank, j.seq

-- name: lock_queues
-- Lock here, and count in the next statement: a statement's snapshot is older than the lock that it waited for.
SELECT q.id, q.paused, q.limits, q.streamed FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @lock

-- name: open_queues
SELECT q.id FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) AND NOT q.paused AND NOT q.limited

-- name: ready_lanes
-- Hops from lane to lane in the ready index, so a lane costs the same whether one job waits in it or a million.
WITH RECURSIVE hop(lane) AS (
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > $1)
  UNION ALL
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > hop.lane)
  FROM hop WHERE hop.lane IS NOT NULL
),
found AS MATERIALIZED (SELECT lane FROM hop WHERE lane IS NOT NULL LIMIT $2)
SELECT f.lane, q.id AS queue_id, l.role, l.concurrency_key, q.limited, q.limits, q.paused,
  (NOT q.paused AND l.task @in($3 text) AND (CAST($4 AS text) IS NULL OR q.name @in($4 text))) AS open
FROM found AS f
JOIN hanbeon.lane AS l ON l.n = (f.lane & 4294967295)
JOIN hanbeon.queue AS q ON q.id = (f.lane >> 32)
ORDER BY f.lane

-- name: running_counts
-- CROSS JOIN makes SQLite take the ranges first and find their jobs by index.
SELECT j.lane, l.role, l.concurrency_key, count(*) AS running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN hanbeon.job AS j
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.state = 'running' AND j.lane >= r.low AND j.lane < r.high
GROUP BY j.lane, l.role, l.concurrency_key

-- name: slots_taken
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
