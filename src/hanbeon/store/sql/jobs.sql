-- name: attempts_of
-- The job's number first: the view then uses it to find the rows in both tables.
SELECT CAST($1 AS @uuid) AS job_id, a.attempt, a.status, a.instance, a.started_at, a.deadline_at, a.ended_at, a.failure_type, a.message
FROM hanbeon.attempt AS a
WHERE a.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1)) ORDER BY a.attempt

-- name: cancel
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET state = 'cancelled', finished_at = n.now, replaced_by = CAST($2 AS @uuid)
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('pending', 'ready')
RETURNING j.seq, j.id, j.lane, n.now

-- name: comments_of_retries
-- Those of the last retry of each job by hand, if it has one.
SELECT m.job, m.comment FROM hanbeon.hand_move AS m
WHERE m.job @in($1 bigint) AND m.reason = 'requeued' AND m.n = (
  SELECT max(l.n) FROM hanbeon.hand_move AS l WHERE l.job = m.job AND l.reason = 'requeued'
)

-- name: conflicting_jobs
SELECT j.id, j.state, j.digest, j.idempotency_key, j.unique_key
FROM hanbeon.job AS j
WHERE j.id @in($1 @uuid)
  OR j.idempotency_key @in($2 text)
  OR (j.unique_key @in($3 text) AND j.state IN (@unfinished_states))

-- name: dependencies
-- The share lock keeps a dependency from finishing before our edges are written: its completion would not see them.
SELECT j.seq, j.id, j.state, j.lane
FROM hanbeon.job AS j
WHERE @id_in(j; $1)
ORDER BY j.seq
@share

-- name: dependencies_of
SELECT d.id, d.state FROM hanbeon.job AS j
JOIN hanbeon.edge AS e ON e.dependent = j.seq JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE @has_id(j; $1) ORDER BY d.seq

-- name: dependencies_of_all
SELECT e.dependent, d.id, d.state FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE e.dependent @in($1 bigint)
ORDER BY e.dependent, e.dependency

-- name: exceptions_of
-- The latest exceptions of a job's attempts.
SELECT x.attempt, x.exception, x.traceback FROM hanbeon.attempt_exception AS x
WHERE x.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1)) ORDER BY x.attempt DESC LIMIT $2

-- name: hand_moves_of
SELECT m.at, m.reason, m.user_name, m.comment, m.changes FROM hanbeon.hand_move AS m WHERE m.job = $1 ORDER BY m.n

-- name: hold_job
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
SELECT j.seq, n.now
FROM hanbeon.job AS j CROSS JOIN n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
@lock_job

-- name: holders
SELECT j.id, l.role, l.concurrency_key, l.task, j.instance, j.started_at
FROM hanbeon.job AS j JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2
ORDER BY j.started_at LIMIT $3

-- name: insert_edges
INSERT INTO hanbeon.edge (dependency, dependent)
SELECT r.dependency, r.dependent FROM @rows($1 AS r; dependency bigint, dependent bigint)

-- name: insert_hand_moves
INSERT INTO hanbeon.hand_move (job, at, reason, user_name, comment, changes)
SELECT j.seq, hanbeon.now(), $2, $3, $4, $5 FROM hanbeon.job AS j WHERE j.seq @in($1 bigint) ORDER BY j.seq

-- name: insert_jobs
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
INSERT INTO hanbeon.job (state, rank, run_at, created_at, blocked, recount, @new_columns)
SELECT
  CASE WHEN r.blocked IS NULL AND coalesce(r.run_at, n.now + coalesce(r.delay, 0)) <= n.now THEN 'ready' ELSE 'pending' END,
  @rank(coalesce(r.urgent, false); coalesce(r.priority, 0)), coalesce(r.run_at, n.now + coalesce(r.delay, 0)), n.now,
  coalesce(r.blocked, false), coalesce(r.recount, false), @new_values(r)
FROM @rows($1 AS r; ord integer, delay bigint, run_at bigint, blocked boolean, recount boolean, @new_types)
CROSS JOIN n
WHERE true
ORDER BY r.ord
ON CONFLICT DO NOTHING
RETURNING seq, id, lane, state, run_at, created_at

-- name: job_nodes
SELECT @node_columns FROM hanbeon.jobs AS v WHERE v.seq @in($1 bigint) ORDER BY v.seq

-- name: job_sizes
SELECT j.seq, @job_bytes AS bytes FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)

-- name: jobs_by_id
SELECT * FROM hanbeon.jobs AS v WHERE @id_in(v; $1) ORDER BY v.seq

-- name: jobs_by_seq
SELECT * FROM hanbeon.jobs WHERE seq @in($1 bigint) ORDER BY seq

-- name: jobs_listed
SELECT @listed_columns FROM hanbeon.jobs AS v WHERE v.seq @in($1 bigint) ORDER BY v.seq

-- name: keep_attempts
-- Copies the last attempt of these jobs out of their rows, which are locked: the jobs run again.
INSERT INTO hanbeon.past_attempt (job, attempt, status, instance, started_at, deadline_at, ended_at, failure_type, message)
SELECT j.seq, j.fence, j.attempt_status, j.instance, j.started_at, j.deadline_at, j.finished_at, j.failure_type,
  j.error_message
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND j.attempt_status IS NOT NULL

-- name: kept_dependencies
-- For a long transaction: a lock that only keeps the dependency from being pruned. It may finish at any moment, and its
-- completion does not see our edges; so dependents of unfinished jobs are recounted after the commit.
SELECT j.seq, j.id, j.state, j.lane
FROM hanbeon.job AS j
WHERE @id_in(j; $1)
ORDER BY j.seq
@keep

-- name: lanes_of_jobs
SELECT j.seq, j.lane FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)

-- name: latest_attempts
-- The job's number first: the view then uses it to find the rows in both tables.
SELECT CAST($1 AS @uuid) AS job_id, a.attempt, a.status, a.instance, a.started_at, a.deadline_at, a.ended_at, a.failure_type, a.message
FROM hanbeon.attempt AS a
WHERE a.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1)) ORDER BY a.attempt DESC LIMIT $2

-- name: list_jobs
SELECT v.* FROM hanbeon.jobs AS v
WHERE v.seq > $1
  AND (CAST($2 AS text) IS NULL OR v.queue = $2)
  AND (CAST($3 AS text) IS NULL OR v.state @in($3 text))
  AND (CAST($4 AS text) IS NULL OR v.task = $4)
  AND (CAST($5 AS text) IS NULL OR v.role = $5)
  AND (CAST($6 AS text) IS NULL OR v.work_item = $6)
ORDER BY v.seq LIMIT $7

-- name: list_jobs_newest
-- Like `list_jobs`, newest first, before $1.
SELECT v.* FROM hanbeon.jobs AS v
WHERE v.seq < $1
  AND (CAST($2 AS text) IS NULL OR v.queue = $2)
  AND (CAST($3 AS text) IS NULL OR v.state @in($3 text))
  AND (CAST($4 AS text) IS NULL OR v.task = $4)
  AND (CAST($5 AS text) IS NULL OR v.role = $5)
  AND (CAST($6 AS text) IS NULL OR v.work_item = $6)
ORDER BY v.seq DESC LIMIT $7

-- name: lock_dependencies
-- The dependencies of a job, share-locked: none can finish or be pruned before our commit.
SELECT j.seq, j.state FROM hanbeon.job AS j
WHERE j.seq IN (SELECT e.dependency FROM hanbeon.edge AS e WHERE e.dependent = $1)
ORDER BY j.seq
@share

-- name: lock_jobs
SELECT j.seq, j.id, j.lane, j.state, j.priority, j.urgent, j.recount, j.fence, j.unique_key, j.dispatched_at,
  coalesce((SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq), 0) AS unmet
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) ORDER BY j.seq @lock_job

-- name: mark_done
-- No attempt ended with it: the last one was copied out of the row, and the job counts as one that took no time.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'succeeded', finished_at = n.now, result = $2, started_at = NULL, deadline_at = NULL,
  stop_requested_at = NULL, failure_type = NULL, error_message = NULL, attempt_status = NULL, replaced_by = NULL
FROM n
WHERE j.seq = $1 AND @hidden(j.state) IN ('failed', 'cancelled')
RETURNING j.seq, j.id, j.lane, n.now

-- name: nodes_by_id
SELECT @node_columns FROM hanbeon.jobs AS v WHERE @id_in(v; $1) ORDER BY v.seq

-- name: queue_page
-- A page of one queue's jobs and their sizes, found by the index of the jobs that surfaces created: no other queue's are read.
WITH page AS MATERIALIZED (
  SELECT j.seq FROM hanbeon.job AS j
  JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
  WHERE (j.lane >> 32) = $1 AND j.meta IS NOT NULL AND j.seq > $2
    AND (CAST($3 AS text) IS NULL OR @hidden(j.state) @in($3 text))
    AND (CAST($4 AS boolean) IS NULL OR @hidden(j.state) <> 'running'
      OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $4)
    AND (CAST($5 AS text) IS NULL OR l.role = $5)
    AND (CAST($6 AS text) IS NULL OR j.work_item = $6)
  ORDER BY j.seq LIMIT $7
)
SELECT j.seq, @job_bytes + octet_length(j.args) AS all_bytes, @job_bytes AS listed_bytes, @node_bytes AS node_bytes
FROM hanbeon.job AS j
WHERE j.seq @among(page) ORDER BY j.seq

-- name: queue_page_unfinished
-- Like `queue_page`, for unfinished jobs: one branch per state, so that each uses its partial index, and finished jobs
-- of the queue cost nothing.
WITH page AS MATERIALIZED (
  SELECT u.seq FROM (
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'pending' AND 'pending' @in($4 text) AND j.lane >= $1 AND j.lane < $2
    UNION ALL
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'ready' AND 'ready' @in($4 text) AND j.lane >= $1 AND j.lane < $2
    UNION ALL
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'running' AND 'running' @in($4 text) AND j.lane >= $1 AND j.lane < $2
      AND (CAST($5 AS boolean) IS NULL OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $5)
  ) AS u
  JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
  WHERE u.seq > $3 AND u.meta IS NOT NULL
    AND (CAST($6 AS text) IS NULL OR l.role = $6)
    AND (CAST($7 AS text) IS NULL OR u.work_item = $7)
  ORDER BY u.seq LIMIT $8
)
SELECT j.seq, @job_bytes + octet_length(j.args) AS all_bytes, @job_bytes AS listed_bytes, @node_bytes AS node_bytes
FROM hanbeon.job AS j
WHERE j.seq @among(page) ORDER BY j.seq

-- name: reprioritise
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET priority = coalesce($2, j.priority), urgent = coalesce($3, j.urgent),
  rank = @rank(coalesce($3, j.urgent); coalesce($2, j.priority))
FROM n
WHERE j.seq = $1 AND @hidden(j.state) IN (@unfinished_states)
RETURNING j.seq, j.id, j.lane, j.state, j.priority, j.urgent, n.now

-- name: request_stop
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET stop_requested_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.stop_requested_at IS NULL
RETURNING j.seq, j.id, j.lane, j.fence, n.now

-- name: requeue
-- Attempt numbers and the fence continue; the unmet count already has the dependencies that have not succeeded.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'pending', run_at = n.now, retry_count = 0, finished_at = NULL, stop_requested_at = NULL, result = NULL,
  failure_type = NULL, error_message = NULL, progress = NULL, attempt_status = NULL,
  replaced_by = NULL, dispatched_at = NULL
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('failed', 'cancelled')
RETURNING j.seq, j.id, j.lane, n.now

-- name: set_args
UPDATE hanbeon.job SET args = $2 WHERE seq = $1

-- name: seqs_by_id
SELECT j.seq, j.id FROM hanbeon.job AS j WHERE @id_in(j; $1)

-- name: unfinished_matching
-- One branch per state, so that each uses its partial index. Newest first; those asked to stop before come last.
SELECT u.seq, u.asked FROM (
  SELECT j.seq, j.lane, j.work_item, false AS asked FROM hanbeon.job AS j
  WHERE j.state = 'pending' AND 'pending' @in($1 text) AND j.lane >= $2 AND j.lane < $3
  UNION ALL
  SELECT j.seq, j.lane, j.work_item, false AS asked FROM hanbeon.job AS j
  WHERE j.state = 'ready' AND 'ready' @in($1 text) AND j.lane >= $2 AND j.lane < $3
  UNION ALL
  SELECT j.seq, j.lane, j.work_item, j.stop_requested_at IS NOT NULL AS asked FROM hanbeon.job AS j
  WHERE j.state = 'running' AND 'running' @in($1 text) AND j.lane >= $2 AND j.lane < $3
    AND (CAST($7 AS boolean) IS NULL OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $7)
) AS u
JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
WHERE (CAST($4 AS text) IS NULL OR l.task = $4)
  AND (CAST($5 AS text) IS NULL OR l.role = $5)
  AND (CAST($6 AS text) IS NULL OR u.work_item = $6)
ORDER BY u.asked, u.seq DESC LIMIT $8
