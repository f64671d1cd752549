-- name: dependency_seqs
SELECT e.dependency AS seq FROM hanbeon.edge AS e WHERE e.dependent = $1 ORDER BY e.dependency LIMIT $2

-- name: dependent_seqs
SELECT e.dependent AS seq FROM hanbeon.edge AS e WHERE e.dependency = $1 ORDER BY e.dependent LIMIT $2

-- name: job_before
SELECT j.seq, j.created_at FROM hanbeon.job AS j WHERE j.seq <= $1 ORDER BY j.seq DESC LIMIT 1

-- name: jobs_in_id_range
SELECT v.seq, v.id FROM @job_ids AS v WHERE v.id >= $1 AND v.id <= $2 ORDER BY v.id DESC LIMIT $3

-- name: latest_failures
-- The latest failed jobs that ended at $1 or later; the number of those looked at is bounded by $2.
SELECT f.seq, f.id, l.task, f.failure_type, f.message, f.finished_at
FROM (
  SELECT j.seq, j.id, j.lane, j.failure_type, substr(j.error_message, 1, 1000) AS message, j.finished_at
  FROM hanbeon.job AS j WHERE j.state = 'failed' AND j.state IN ('failed', 'cancelled') ORDER BY j.seq DESC LIMIT $2
) AS f
JOIN hanbeon.lane AS l ON l.n = (f.lane & 4294967295)
WHERE f.finished_at >= $1

-- name: linked_jobs
-- Jobs before or behind another, without their arguments and results, which may be large.
SELECT j.id, l.task, j.state FROM hanbeon.job AS j JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.seq @in($1 bigint) ORDER BY j.seq

-- name: search_end
-- The last of the next $2 jobs before $1; none if there are fewer.
SELECT j.seq FROM hanbeon.job AS j WHERE j.seq < $1 ORDER BY j.seq DESC LIMIT 1 OFFSET $2

-- name: search_ended
-- Seqs of jobs in the terminal state $4, in the lanes $1 and before $2, newest first, up to $3. Only lanes whose newest
-- job is among the $3 newest of all lanes are read, and only down to the last of these.
WITH newest AS MATERIALIZED (
  SELECT r.lane, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.state = $4 AND j.state IN (@terminal_states)
    AND j.lane = r.lane AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint)
),
head AS MATERIALIZED (SELECT lane, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = $4 AND k.state IN (@terminal_states)
    AND k.lane = h.lane AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3

-- name: search_failures
-- Like `search_ended`, of jobs with the failure type $4.
WITH newest AS MATERIALIZED (
  SELECT r.lane, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.failure_type = $4 AND j.failure_type IS NOT NULL
    AND j.lane = r.lane AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint)
),
head AS MATERIALIZED (SELECT lane, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.failure_type = $4 AND k.failure_type IS NOT NULL
    AND k.lane = h.lane AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3

-- name: search_jobs
-- Jobs after $1 and before $2, newest first. The caller bounds how many that may be, and so how many are looked at.
SELECT v.seq, @record_bytes AS bytes FROM hanbeon.jobs AS v
WHERE v.seq > $1 AND v.seq < $2
  AND (CAST($3 AS text) IS NULL OR v.state @in($3 text))
  AND (CAST($4 AS text) IS NULL OR v.queue = $4)
  AND (CAST($5 AS text) IS NULL OR v.task = $5)
  AND (CAST($6 AS text) IS NULL OR v.role = $6)
  AND (CAST($7 AS text) IS NULL OR v.concurrency_key = $7 OR v.unique_key = $7 OR v.idempotency_key = $7)
  AND (CAST($8 AS text) IS NULL OR v.failure_type = $8)
  AND (CAST($9 AS bigint) IS NULL OR v.created_at >= $9)
  AND (CAST($10 AS bigint) IS NULL OR v.created_at < $10)
  AND (CAST($11 AS text) IS NULL OR NOT @built_in AND @contains(v.args; $11))
  AND (CAST($12 AS @uuid) IS NULL OR v.id >= $12)
  AND (CAST($13 AS @uuid) IS NULL OR v.id <= $13)
  AND (CAST($14 AS integer) = 0 OR NOT @built_in)
ORDER BY v.seq DESC LIMIT $15

-- name: search_jobs_among
-- Like `search_jobs`, of the jobs with these numbers.
SELECT v.seq, @record_bytes AS bytes FROM hanbeon.jobs AS v
WHERE v.seq @in($1 bigint)
  AND (CAST($2 AS text) IS NULL OR v.state @in($2 text))
  AND (CAST($3 AS text) IS NULL OR v.queue = $3)
  AND (CAST($4 AS text) IS NULL OR v.task = $4)
  AND (CAST($5 AS text) IS NULL OR v.role = $5)
  AND (CAST($6 AS text) IS NULL OR v.concurrency_key = $6 OR v.unique_key = $6 OR v.idempotency_key = $6)
  AND (CAST($7 AS text) IS NULL OR v.failure_type = $7)
  AND (CAST($8 AS bigint) IS NULL OR v.created_at >= $8)
  AND (CAST($9 AS bigint) IS NULL OR v.created_at < $9)
  AND (CAST($10 AS text) IS NULL OR NOT @built_in AND @contains(v.args; $10))
  AND (CAST($11 AS @uuid) IS NULL OR v.id >= $11)
  AND (CAST($12 AS @uuid) IS NULL OR v.id <= $12)
  AND (CAST($13 AS integer) = 0 OR NOT @built_in)
ORDER BY v.seq DESC LIMIT $14

-- name: search_keys
-- Seqs of jobs before $2 with the idempotency key or the unique key $1, newest first, up to $3.
SELECT u.seq FROM (
  SELECT j.seq FROM hanbeon.job AS j WHERE j.idempotency_key = $1 AND j.seq < $2
  UNION
  SELECT j.seq FROM hanbeon.job AS j WHERE j.unique_key = $1 AND j.state IN (@unfinished_states) AND j.seq < $2
  UNION
  SELECT p.seq FROM (
    SELECT j.seq FROM hanbeon.job AS j
    WHERE j.unique_key = $1 AND j.unique_key IS NOT NULL AND j.state IN (@terminal_states) AND j.seq < $2
    ORDER BY j.seq DESC LIMIT $3
  ) AS p
) AS u
ORDER BY u.seq DESC LIMIT $3

-- name: search_lanes
-- All lanes, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l LIMIT $1

-- name: search_lanes_of_key
-- Lanes with a concurrency key, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.concurrency_key = $5 AND l.concurrency_key <> ''
  AND (CAST($2 AS bigint) IS NULL OR l.queue_id = $2)
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
  AND (CAST($4 AS text) IS NULL OR l.role = $4)
LIMIT $1

-- name: search_lanes_of_queue
-- Lanes of a queue, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.queue_id = $2
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
  AND (CAST($4 AS text) IS NULL OR l.role = $4)
LIMIT $1

-- name: search_lanes_of_role
-- Lanes of a role, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.role = $4
  AND (CAST($2 AS bigint) IS NULL OR l.queue_id = $2)
  AND (CAST($3 AS text) IS NULL OR l.task = $3)
LIMIT $1

-- name: search_lanes_of_task
-- Lanes of a task, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l
WHERE l.task = $3
  AND (CAST($2 AS bigint) IS NULL OR l.queue_id = $2)
  AND (CAST($4 AS text) IS NULL OR l.role = $4)
LIMIT $1

-- name: search_pending
-- Like `search_ended`, of pending jobs.
WITH newest AS MATERIALIZED (
  SELECT r.lane, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.state = 'pending'
    AND j.lane = r.lane AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint)
),
head AS MATERIALIZED (SELECT lane, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'pending'
    AND k.lane = h.lane AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3

-- name: search_ready
-- Like `search_ended`, of ready jobs, by lanes and ranks.
WITH newest AS MATERIALIZED (
  SELECT r.lane, r.rank, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.state = 'ready'
    AND j.lane = r.lane AND j.rank = r.rank AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint, rank bigint)
),
head AS MATERIALIZED (SELECT lane, rank, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'ready' AND k.lane = h.lane AND k.rank = h.rank AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3

-- name: search_ready_ranks
-- The ranks of the ready jobs in the lanes $1, up to $2: hops from rank to rank, however many jobs have the same.
WITH RECURSIVE hop(lane, rank) AS (
  SELECT r.lane, (SELECT min(j.rank) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = r.lane)
  FROM @rows($1 AS r; lane bigint)
  UNION ALL
  SELECT hop.lane,
    (SELECT min(j.rank) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = hop.lane AND j.rank > hop.rank)
  FROM hop WHERE hop.rank IS NOT NULL
)
SELECT lane, rank FROM hop WHERE rank IS NOT NULL LIMIT $2

-- name: search_running
-- All running jobs of a range of lanes: never many, since each holds a slot.
SELECT j.seq, j.lane FROM hanbeon.job AS j WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2

-- name: search_unsuccessful
-- Seqs of jobs in the state $1 before $2, newest first, by the index of those that failed or were cancelled.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = $1 AND j.state IN ('failed', 'cancelled') AND j.seq < $2
ORDER BY j.seq DESC LIMIT $3
