-- name: add_workflow
INSERT INTO hanbeon.workflow (id, name, definition, shown, schedule_config, timezone, status, activation, spent,
  declared_name, declared, version, created_by, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, 'draft', 0, false, $7, $8, 1, $9, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id

-- name: add_workflow_run
INSERT INTO hanbeon.workflow_run (job, run_id, workflow_id, kind, scheduled_time, variables, requested_by, due_at,
  retry_count, late, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $5, 0, false, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING

-- name: audit_stranded_workflows
SELECT w.id, w.run_id, j.state
FROM hanbeon.workflow AS w LEFT JOIN hanbeon.job AS j ON @has_id(j; w.run_id)
WHERE w.run_id IS NOT NULL AND coalesce(j.state, 'gone') NOT IN (@unfinished_states)
ORDER BY w.id

-- name: audit_workflow_counts
SELECT (SELECT count(*) FROM hanbeon.workflow) AS workflows, (SELECT count(*) FROM hanbeon.workflow_run) AS runs

-- name: audit_workflow_runs
SELECT r.run_id, r.status, j.state
FROM hanbeon.workflow_run AS r LEFT JOIN hanbeon.job AS j ON j.seq = r.job
WHERE coalesce(r.status, 'none') <> CASE coalesce(j.state, 'gone') WHEN 'succeeded' THEN 'completed'
  WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' WHEN 'gone' THEN 'gone' ELSE 'none' END
ORDER BY r.job

-- name: audit_workflow_steps
SELECT s.run_id, s.step_index
FROM hanbeon.workflow_step AS s
LEFT JOIN hanbeon.workflow_step AS p ON p.run_id = s.run_id AND p.step_index = s.step_index - 1
WHERE s.step_index > 0 AND (p.run_id IS NULL OR p.ended_at IS NULL OR p.status NOT IN ('completed', 'failed'))
ORDER BY s.run_id, s.step_index

-- name: begin_workflow_run
UPDATE hanbeon.workflow_run AS r
SET definition = coalesce(r.definition, $2), workflow_data = coalesce(r.workflow_data, $3),
  executed_at = coalesce(r.executed_at, $4),
  late = CASE WHEN r.executed_at IS NULL AND r.kind = 'registered' THEN r.scheduled_time < $4 - $5 ELSE r.late END,
  changed_at = $4
WHERE r.job = $1

-- name: bring_forward
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET run_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending' AND j.run_at > n.now
RETURNING j.seq

-- name: change_workflow
UPDATE hanbeon.workflow AS w
SET name = r.name, definition = r.definition, shown = r.shown, schedule_config = r.schedule_config,
  timezone = r.timezone, status = r.status, activation = r.activation, activated_at = r.activated_at,
  spent = r.spent, run_id = r.run_id, next_time = r.next_time, last_time = r.last_time,
  declared_name = r.declared_name, declared = r.declared, version = r.version, changed_at = n.now,
  deleted_at = r.deleted_at
FROM @rows($1 AS r; id @uuid, name text, definition text, shown text, schedule_config text, timezone text, status text,
  activation bigint, activated_at bigint, spent boolean, run_id @uuid, next_time bigint, last_time bigint,
  declared_name text, declared text, version bigint, deleted_at bigint)
  CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE w.id = r.id

-- name: delayed_workflow_runs
SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.due_at, n.now
FROM (SELECT hanbeon.now() AS now) AS n
CROSS JOIN hanbeon.workflow_run AS r
JOIN hanbeon.job AS j ON j.seq = r.job
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.ended_at IS NULL AND r.due_at < n.now - $1 AND j.state <> 'running'
ORDER BY r.due_at LIMIT $2

-- name: deliveries_of_workflow_runs
SELECT d.run_id, d.step_index, d.n, d.status, d.attempts, d.unknown, d.fence, d.error_message, d.changed_at
FROM hanbeon.workflow_delivery AS d WHERE d.run_id @in($1 @uuid) ORDER BY d.run_id, d.step_index, d.n

-- name: end_workflow_runs
UPDATE hanbeon.workflow_run AS r
SET ended_at = e.ended_at, status = e.status, error_code = e.error_code, error_message = e.error_message,
  changed_at = e.ended_at
FROM @rows($1 AS e; job bigint, ended_at bigint, status text, error_code text, error_message text)
WHERE r.job = e.job

-- name: end_workflow_steps
UPDATE hanbeon.workflow_step AS s SET status = 'cancelled', ended_at = hanbeon.now()
WHERE s.run_id @in($1 @uuid) AND s.ended_at IS NULL

-- name: failed_workflow_runs
SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.ended_at, r.error_code, r.error_message
FROM hanbeon.workflow_run AS r
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.status = 'failed' AND r.ended_at > $1
ORDER BY r.ended_at DESC LIMIT $2

-- name: keep_workflow
-- Locked against changes and the deletion until the commit; transactions that add runs share the lock.
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id = $1 @share

-- name: lock_workflow
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id = $1 @lock

-- name: lock_workflows_of_runs
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.run_id @in($1 @uuid) ORDER BY w.id @lock

-- name: next_workflow_runs
SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.due_at
FROM (SELECT hanbeon.now() AS now) AS n
CROSS JOIN hanbeon.workflow_run AS r
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.ended_at IS NULL AND r.due_at >= n.now
ORDER BY r.due_at LIMIT $1

-- name: prune_workflow_deliveries
DELETE FROM hanbeon.workflow_delivery
WHERE run_id IN (SELECT r.run_id FROM hanbeon.workflow_run AS r WHERE r.job @in($1 bigint))

-- name: prune_workflow_runs
DELETE FROM hanbeon.workflow_run WHERE job @in($1 bigint)

-- name: prune_workflow_steps
DELETE FROM hanbeon.workflow_step
WHERE run_id IN (SELECT r.run_id FROM hanbeon.workflow_run AS r WHERE r.job @in($1 bigint))

-- name: put_off_workflow_run
UPDATE hanbeon.workflow_run AS r
SET due_at = $2, retry_count = r.retry_count + $3, changed_at = hanbeon.now()
WHERE r.job = $1

-- name: put_workflow_deliveries
INSERT INTO hanbeon.workflow_delivery (run_id, step_index, n, status, attempts, unknown, fence, error_message,
  changed_at)
SELECT r.run_id, r.step_index, r.n, r.status, r.attempts, r.unknown, r.fence, r.error_message, r.changed_at
FROM @rows($1 AS r; run_id @uuid, step_index integer, n integer, status text, attempts integer, unknown integer,
  fence bigint, error_message text, changed_at bigint)
WHERE true
ON CONFLICT (run_id, step_index, n) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
  unknown = excluded.unknown, fence = excluded.fence, error_message = excluded.error_message,
  changed_at = excluded.changed_at

-- name: put_workflow_step
INSERT INTO hanbeon.workflow_step (run_id, step_index, name, type, status, attempts, unknown, fence, output, error_code,
  error_message, step_job, until, started_at, ended_at)
SELECT r.run_id, r.step_index, r.name, r.type, r.status, r.attempts, r.unknown, r.fence, r.output, r.error_code,
  r.error_message, r.step_job, r.until, r.started_at, r.ended_at
FROM @rows($1 AS r; run_id @uuid, step_index integer, name text, type text, status text, attempts integer,
  unknown integer, fence bigint, output text, error_code text, error_message text, step_job @uuid, until bigint,
  started_at bigint, ended_at bigint)
WHERE true
ON CONFLICT (run_id, step_index) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
  unknown = excluded.unknown, fence = excluded.fence, output = excluded.output, error_code = excluded.error_code,
  error_message = excluded.error_message, step_job = excluded.step_job, until = excluded.until,
  started_at = excluded.started_at, ended_at = excluded.ended_at

-- name: reopen_workflow_run
UPDATE hanbeon.workflow_run AS r
SET ended_at = NULL, status = NULL, error_code = NULL, error_message = NULL, due_at = hanbeon.now(),
  changed_at = hanbeon.now()
WHERE r.run_id = $1

-- name: reopen_workflow_steps
UPDATE hanbeon.workflow_step AS s
SET status = 'retrying', attempts = 0, ended_at = NULL, step_job = NULL
WHERE s.run_id = $1 AND s.step_index >= $2

-- name: runs_waiting_for_jobs
SELECT j.seq, j.lane
FROM hanbeon.workflow_step AS s
JOIN hanbeon.workflow_run AS r ON r.run_id = s.run_id
JOIN hanbeon.job AS j ON j.seq = r.job
WHERE s.step_job @in($1 @uuid) AND @hidden(j.state) = 'pending'
ORDER BY j.seq + 0
@lock_skip_job

-- name: skip_workflow_times
UPDATE hanbeon.workflow_run AS r SET skipped = $2 WHERE r.run_id = $1

-- name: steps_of_workflow_runs
SELECT @step_columns FROM hanbeon.workflow_step AS s WHERE s.run_id @in($1 @uuid) ORDER BY s.run_id, s.step_index

-- name: unfinished_step_jobs
SELECT j.seq FROM hanbeon.workflow_step AS s JOIN hanbeon.job AS j ON @has_id(j; s.step_job)
WHERE s.run_id @in($1 @uuid) AND s.step_job IS NOT NULL AND j.state IN (@unfinished_states)
ORDER BY j.seq

-- name: unfinished_workflow_run
SELECT r.run_id FROM hanbeon.workflow_run AS r
WHERE r.workflow_id = $1 AND r.ended_at IS NULL
ORDER BY r.job DESC LIMIT 1

-- name: workflow_by_id
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.id = $1

-- name: workflow_declared
SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.declared_name = $1

-- name: workflow_run_by_id
SELECT @run_columns, j.state, j.run_at FROM hanbeon.workflow_run AS r JOIN hanbeon.job AS j ON j.seq = r.job
WHERE r.run_id = $1

-- name: workflow_runs
SELECT @run_columns, j.state, j.run_at
FROM hanbeon.workflow_run AS r JOIN hanbeon.job AS j ON j.seq = r.job
WHERE r.workflow_id = $1 AND r.job < $2
ORDER BY r.job DESC LIMIT $3

-- name: workflow_runs_by_id
SELECT @run_columns, j.state, j.run_at FROM hanbeon.workflow_run AS r JOIN hanbeon.job AS j ON j.seq = r.job
WHERE r.run_id @in($1 @uuid) ORDER BY r.job

-- name: workflow_runs_of_jobs
SELECT @run_columns, 'failed' AS state, 0 AS run_at FROM hanbeon.workflow_run AS r WHERE r.job @in($1 bigint) ORDER BY r.job

-- name: workflows
SELECT @workflow_columns FROM hanbeon.workflow AS w
WHERE w.seq > $1 AND w.deleted_at IS NULL AND w.status = coalesce($3, w.status)
ORDER BY w.seq LIMIT $2
