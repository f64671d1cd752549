-- name: add_chain
INSERT INTO hanbeon.chain (uid, queue_library, state, operation_direction, retries, on_unknown, on_backward_failure,
  job_number, context, run, steps, enqueued, created_by, created_at, changed_at)
SELECT $1, $2, 'EMPTY', 'FORWARD', $3, $4, $5, 0, '{}', 0, 0, 0, $6, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id

-- name: add_chain_jobs
INSERT INTO hanbeon.chain_job (uid, chain_id, place, forward_operation, backward_operation, arguments,
  operation_library, expired_us, state)
SELECT r.uid, r.chain_id, r.place, r.forward_operation, r.backward_operation, r.arguments, r.operation_library,
  r.expired_us, r.state
FROM @rows($1 AS r; uid @uuid, chain_id bigint, place integer, forward_operation text, backward_operation text,
  arguments text, operation_library text, expired_us bigint, state text)
WHERE true
ORDER BY r.place

-- name: add_chain_run
INSERT INTO hanbeon.chain_run (chain_id, n, uid, started_by, job_number, started_at)
VALUES ($1, $2, $3, $4, $5, hanbeon.now())
RETURNING started_at

-- name: add_chain_steps
INSERT INTO hanbeon.chain_step (chain_id, run, n, job_id, direction, state, returned, step_job, started_at, ended_at)
SELECT r.chain_id, r.run, r.n, r.job_id, r.direction, r.state, r.returned, r.step_job, r.started_at, r.ended_at
FROM @rows($1 AS r; chain_id bigint, run bigint, n integer, job_id bigint, direction text, state text, returned text,
  step_job @uuid, started_at bigint, ended_at bigint)
WHERE true

-- name: audit_chain_runs
SELECT r.chain_id, r.n, r.started_by, r.started_at, r.ended_at, r.job_number, r.operation_direction
FROM hanbeon.chain_run AS r WHERE r.chain_id @in($1 bigint) ORDER BY r.chain_id, r.n

-- name: audit_chain_step_jobs
SELECT j.id, j.state, j.failure_type FROM hanbeon.job AS j WHERE @id_in(j; $1)

-- name: audit_chain_steps
SELECT s.chain_id, s.run, s.n, s.job_id, s.direction, s.state, s.returned, s.step_job, s.started_at, s.ended_at
FROM hanbeon.chain_step AS s WHERE s.chain_id @in($1 bigint) ORDER BY s.chain_id, s.run, s.n

-- name: audit_stranded_chains
SELECT c.id, c.run, c.step_job, j.state
FROM hanbeon.chain AS c LEFT JOIN hanbeon.job AS j ON @has_id(j; c.step_job)
WHERE c.state = 'RUNNING' AND coalesce(j.state, 'gone') NOT IN (@unfinished_states)

-- name: chain_by_id
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id = $1

-- name: chain_by_uid
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.uid = $1

-- name: chain_counts
SELECT c.state, count(*) AS chains FROM hanbeon.chain AS c WHERE c.state @in($1 text) GROUP BY c.state

-- name: chain_job_by_uid
SELECT @chain_job_columns FROM hanbeon.chain_job AS b WHERE b.uid = $1

-- name: chain_page
SELECT c.id, c.job_number FROM hanbeon.chain AS c WHERE c.id > $1 ORDER BY c.id LIMIT $2

-- name: chain_page_in_state
SELECT c.id, c.job_number FROM hanbeon.chain AS c WHERE c.state = $3 AND c.id > $1 ORDER BY c.id LIMIT $2

-- name: chain_run_by_uid
SELECT r.chain_id, r.n FROM hanbeon.chain_run AS r WHERE r.uid = $1

-- name: chain_runs
SELECT r.chain_id, r.n, r.started_by, r.started_at, r.ended_at, r.job_number, r.operation_direction, coalesce((
    SELECT sum(octet_length(s.returned)) FROM hanbeon.chain_step AS s WHERE s.chain_id = r.chain_id AND s.run = r.n
  ), 0) AS bytes
FROM hanbeon.chain_run AS r WHERE r.chain_id = $1 AND r.n < $2 ORDER BY r.n DESC LIMIT $3

-- name: chain_sizes
-- The texts that a list shows: of the chain, its jobs, and the steps of its last run.
SELECT c.id, octet_length(c.context) + coalesce((
    SELECT sum(octet_length(b.arguments) + coalesce(octet_length(b.job_return), 0))
    FROM hanbeon.chain_job AS b WHERE b.chain_id = c.id
  ), 0) + coalesce((
    SELECT sum(octet_length(s.returned)) FROM hanbeon.chain_step AS s WHERE s.chain_id = c.id AND s.run = c.run
  ), 0) AS bytes
FROM hanbeon.chain AS c WHERE c.id @in($1 bigint) ORDER BY c.id

-- name: chains
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id > $1 ORDER BY c.id LIMIT $2

-- name: chains_by_id
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id @in($1 bigint) ORDER BY c.id

-- name: chains_of_steps
-- Their jobs are locked, so that none of these chains goes on meanwhile.
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.step_job @in($1 @uuid) ORDER BY c.id

-- name: change_chain_jobs
UPDATE hanbeon.chain_job AS b SET state = r.state, job_return = r.job_return
FROM @rows($1 AS r; id bigint, state text, job_return text)
WHERE @few(r.id) AND b.id = r.id

-- name: change_chains
UPDATE hanbeon.chain AS c
SET state = r.state, operation_direction = r.operation_direction, job_number = r.job_number, context = r.context,
  run = r.run, steps = r.steps, enqueued = r.enqueued, place = r.place, step_job = r.step_job, changed_at = n.now
FROM @rows($1 AS r; id bigint, state text, operation_direction text, job_number integer, context text, run bigint,
  steps integer, enqueued integer, place integer, step_job @uuid) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE @few(r.id) AND c.id = r.id

-- name: count_prunable_runs
SELECT count(*) AS rows FROM hanbeon.chain_run AS r WHERE @prunable_run

-- name: delete_chain
DELETE FROM hanbeon.chain WHERE id = $1

-- name: delete_chain_jobs
DELETE FROM hanbeon.chain_job WHERE chain_id = $1

-- name: delete_chain_runs
DELETE FROM hanbeon.chain_run WHERE chain_id = $1

-- name: delete_chain_steps
DELETE FROM hanbeon.chain_step WHERE chain_id = $1

-- name: end_chain_runs
UPDATE hanbeon.chain_run AS k SET ended_at = r.ended_at, operation_direction = r.operation_direction
FROM @rows($1 AS r; chain_id bigint, n bigint, ended_at bigint, operation_direction text)
WHERE @few(r.chain_id) AND k.chain_id = r.chain_id AND k.n = r.n

-- name: jobs_of_chains
SELECT @chain_job_columns FROM hanbeon.chain_job AS b WHERE b.chain_id @in($1 bigint) ORDER BY b.chain_id, b.place

-- name: last_steps_of_chains
SELECT s.chain_id, s.run, s.n, s.job_id, s.direction, s.state, s.returned, s.step_job, s.started_at, s.ended_at
FROM hanbeon.chain AS c JOIN hanbeon.chain_step AS s ON s.chain_id = c.id AND s.run = c.run
WHERE c.id @in($1 bigint) ORDER BY s.chain_id, s.n

-- name: lock_chain
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id = $1 @lock

-- name: lock_chains_of_steps
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.step_job @in($1 @uuid) ORDER BY c.id @lock

-- name: prunable_runs
SELECT r.chain_id, r.n FROM hanbeon.chain_run AS r WHERE @prunable_run ORDER BY r.ended_at LIMIT $2 @lock_skip_run

-- name: prune_chain_runs
DELETE FROM hanbeon.chain_run AS k
WHERE (k.chain_id, k.n) IN (SELECT r.chain_id, r.n FROM @rows($1 AS r; chain_id bigint, n bigint))

-- name: prune_chain_steps
DELETE FROM hanbeon.chain_step AS s
WHERE (s.chain_id, s.run) IN (SELECT r.chain_id, r.n FROM @rows($1 AS r; chain_id bigint, n bigint))

-- name: steps_of_run
SELECT s.chain_id, s.run, s.n, s.job_id, s.direction, s.state, s.returned, s.step_job, s.started_at, s.ended_at
FROM hanbeon.chain_step AS s WHERE s.chain_id = $1 AND s.run >= $2 AND s.run <= $3 ORDER BY s.run, s.n
