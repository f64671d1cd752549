-- Hops over the ready lanes of each range like `ready_lanes`, up to a limit of them. From each lane, the first job, and
-- the first job of the last rank: a few entries of the index, however many wait. No job of a lane has a greater rank
-- than its last, but with an equality the planner would walk all jobs in their order.
WITH RECURSIVE hop(high, lane, n) AS (
  SELECT r.high,
    (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane >= r.low AND j.lane < r.high), 1
  FROM @rows($1 AS r; low bigint, high bigint)
  UNION ALL
  SELECT hop.high,
    (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > hop.lane AND j.lane < hop.high),
    hop.n + 1
  FROM hop WHERE hop.lane IS NOT NULL AND hop.n < $2
),
ends AS MATERIALIZED (
  SELECT
    (
      SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = hop.lane
      ORDER BY j.rank, j.seq LIMIT 1
    ) AS first,
    (
      SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = hop.lane
      ORDER BY j.rank DESC, j.seq DESC LIMIT 1
    ) AS last
  FROM hop WHERE hop.lane IS NOT NULL
),
heads AS MATERIALIZED (
  SELECT e.first AS seq FROM ends AS e
  UNION ALL
  SELECT (
    SELECT j.seq FROM hanbeon.job AS j
    WHERE j.state = 'ready' AND j.lane = l.lane AND j.rank >= l.rank
    ORDER BY j.rank, j.seq LIMIT 1
  )
  FROM ends AS e JOIN hanbeon.job AS l ON l.seq = e.last AND @few(e.last)
)
SELECT j.lane, j.run_at, j.created_at, j.free_at, hanbeon.now() AS now FROM heads AS h
JOIN hanbeon.job AS j ON j.seq = h.seq AND @few(h.seq)
