-- name: add_queue_batches
INSERT INTO hanbeon.queue_batch (queue_id, first_id)
SELECT q.id, r.first_id
FROM @rows($1 AS r; queue text, first_id bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ON CONFLICT DO NOTHING

-- name: add_to_tally
INSERT INTO hanbeon.tally AS t (queue_id, state, jobs, ran_us)
SELECT q.id, r.state, r.jobs, r.ran_us
FROM @rows($1 AS r; queue text, state text, jobs bigint, ran_us bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.state
ON CONFLICT (queue_id, state) DO UPDATE SET jobs = t.jobs + excluded.jobs, ran_us = t.ran_us + excluded.ran_us

-- name: add_totals
INSERT INTO hanbeon.total (name, value)
SELECT r.name, r.value FROM @rows($1 AS r; name text, value bigint)

-- name: advance_fold
UPDATE hanbeon.fold SET folded_to = $1, folded_at = hanbeon.now() WHERE only_row = 1

-- name: audit_counts
-- The expected tallies. The duration of a success counts as 0 if the clock was set back in the meantime.
SELECT (j.lane >> 32) AS queue_id, j.state, count(*) AS jobs,
  CAST(sum(
    CASE WHEN j.state = 'succeeded' AND j.finished_at > j.started_at THEN j.finished_at - j.started_at ELSE 0 END
  ) AS bigint) AS ran_us
FROM hanbeon.job AS j WHERE j.seq > $1 AND j.seq <= $2 GROUP BY (j.lane >> 32), j.state

-- name: delete_timing
DELETE FROM hanbeon.timing WHERE queue_id = $1 AND slot = $2

-- name: fine_timings
-- Minutes from $1 until $2 that are not the first of their $3.
SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t
WHERE t.slot >= $1 AND t.slot < $2 AND t.slot % $3 <> 0
ORDER BY t.slot LIMIT $4

-- name: largest_queues
-- The queues with the most unfinished jobs, or else with the most jobs, as far as they are folded; with the folded counts.
-- Joined before they are summed up: a planner that knows nothing of the tallies would walk the sums for each queue.
WITH largest AS MATERIALIZED (
  SELECT q.id, q.name FROM hanbeon.queue AS q LEFT JOIN hanbeon.tally AS t ON t.queue_id = q.id
  GROUP BY q.id, q.name
  ORDER BY sum(CASE WHEN t.state IN (@unfinished_states) THEN t.jobs ELSE 0 END) DESC,
    coalesce(sum(t.jobs), 0) DESC, q.name
  LIMIT $1
)
SELECT l.id, l.name, t.state, t.jobs FROM largest AS l LEFT JOIN hanbeon.tally AS t ON t.queue_id = l.id

-- name: lock_fold
-- Returns nothing while another transaction folds, or if the last fold was just now: however many instances there are,
-- together they fold no more often than one.
SELECT f.folded_to FROM hanbeon.fold AS f
WHERE f.only_row = 1 AND f.folded_at <= (SELECT hanbeon.now()) - $1
@lock_skip

-- name: longest_wait_elsewhere
-- The longest wait of a ready job in all but some queues. Hops over the ready lanes and looks at the ends of each like
-- `oldest_ready`, but returns one row: there may be tens of thousands of queues.
WITH RECURSIVE hop(lane) AS (
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > 0)
  UNION ALL
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > hop.lane)
  FROM hop WHERE hop.lane IS NOT NULL
),
others AS MATERIALIZED (
  SELECT hop.lane FROM hop WHERE hop.lane IS NOT NULL AND NOT ((hop.lane >> 32) @in($1 bigint))
),
ends AS MATERIALIZED (
  SELECT
    (
      SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = o.lane
      ORDER BY j.rank, j.seq LIMIT 1
    ) AS first,
    (
      SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = o.lane
      ORDER BY j.rank DESC, j.seq DESC LIMIT 1
    ) AS last
  FROM others AS o
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
),
free AS (
  SELECT CASE WHEN j.run_at >= j.created_at THEN j.run_at ELSE j.created_at END AS due, coalesce(j.free_at, 0) AS free_at
  FROM heads AS h JOIN hanbeon.job AS j ON j.seq = h.seq AND @few(h.seq)
)
SELECT max(hanbeon.now() - CASE WHEN f.due >= f.free_at THEN f.due ELSE f.free_at END) AS waited_us FROM free AS f

-- name: mean_run
SELECT avg(j.finished_at - j.started_at) AS mean FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)

-- name: oldest_ready
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

-- name: prefix_tallies
SELECT r.prefix, t.state, CAST(sum(t.jobs) AS bigint) AS jobs
FROM @rows($1 AS r; prefix text, start text, length bigint)
JOIN hanbeon.queue AS q ON length(q.name) = r.length AND substr(q.name, 1, length(r.start)) = r.start
JOIN hanbeon.tally AS t ON t.queue_id = q.id
GROUP BY r.prefix, t.state

-- name: put_timings
-- A read-modify-write under the lock of the fold row.
INSERT INTO hanbeon.timing (queue_id, slot, flow)
SELECT r.queue_id, r.slot, r.flow FROM @rows($1 AS r; queue_id bigint, slot bigint, flow text)
WHERE true
ORDER BY r.queue_id, r.slot
ON CONFLICT (queue_id, slot) DO UPDATE SET flow = excluded.flow

-- name: take_totals
-- Only if there are many: on a quiet database nothing is written.
DELETE FROM hanbeon.total
WHERE (SELECT count(*) FROM hanbeon.total) > $1 AND seq <= (SELECT max(t.seq) FROM hanbeon.total AS t)
RETURNING name, value

-- name: tallies
SELECT t.queue_id, t.state, t.jobs, t.ran_us FROM hanbeon.tally AS t WHERE t.queue_id >= $1 AND t.queue_id <= $2

-- name: tallies_named
SELECT q.id, q.name, t.state, t.jobs FROM hanbeon.queue AS q LEFT JOIN hanbeon.tally AS t ON t.queue_id = q.id
WHERE q.name @in($1 text)

-- name: tallies_of_queues
SELECT t.queue_id, t.state, t.jobs, t.ran_us FROM hanbeon.tally AS t WHERE t.queue_id @in($1 bigint)

-- name: tally_totals
SELECT t.state, CAST(sum(t.jobs) AS bigint) AS jobs, CAST(sum(t.ran_us) AS bigint) AS ran_us
FROM hanbeon.tally AS t GROUP BY t.state

-- name: timing
SELECT t.flow FROM hanbeon.timing AS t WHERE t.queue_id = $1 AND t.slot = $2

-- name: timings_at
SELECT r.queue, t.slot, t.flow
FROM @rows($1 AS r; queue text, slot bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
JOIN hanbeon.timing AS t ON t.queue_id = q.id AND t.slot = r.slot
WHERE @few(r.slot)

-- name: timings_between
SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t WHERE t.slot >= $1 AND t.slot < $2

-- name: timings_of_all
SELECT t.queue_id, t.flow FROM hanbeon.timing AS t WHERE t.slot >= $1

-- name: timings_of_queue_between
SELECT t.queue_id, t.slot, t.flow FROM hanbeon.timing AS t WHERE t.queue_id = $1 AND t.slot >= $2 AND t.slot < $3

-- name: timings_of_queues
SELECT t.queue_id, t.flow FROM hanbeon.timing AS t WHERE t.queue_id @in($1 bigint) AND t.slot >= $2

-- name: totals
SELECT t.name, CAST(sum(t.value) AS bigint) AS value FROM hanbeon.total AS t GROUP BY t.name ORDER BY t.name

-- name: write_timings
-- A read-modify-write under the lock of the fold row.
INSERT INTO hanbeon.timing (queue_id, slot, flow)
SELECT q.id, r.slot, r.flow
FROM @rows($1 AS r; queue text, slot bigint, flow text)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.slot
ON CONFLICT (queue_id, slot) DO UPDATE SET flow = excluded.flow
