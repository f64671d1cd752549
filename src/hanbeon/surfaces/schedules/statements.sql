-- name: add_schedule
INSERT INTO hanbeon.schedule (id, name, task_id, definition, paused, considered_to, timed_since, next_fire_at, due_at,
  declared, created_by, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, n.now, n.now FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id

-- name: advance_schedules
-- By position, which many share. Their ids are looked up as an array: joined with a row for each, PostgreSQL's planner
-- reads a table that it thinks is small, or compares every schedule with every one of the rows.
UPDATE hanbeon.schedule AS s
SET considered_to = r.considered_to, next_fire_at = r.next_fire_at, due_at = r.due_at, last_fire_at = r.last_fire_at,
  waiting = r.waiting
FROM @rows($1 AS r; ids text, considered_to bigint, next_fire_at bigint, due_at bigint, last_fire_at bigint, waiting text)
WHERE s.id @in(r.ids @uuid)

-- name: audit_alone
-- Attempts of executions that must run alone, which began before an earlier one of the same task had ended.
WITH ran AS (
  SELECT e.task_id, e.job, j.id, a.attempt, a.started_at, a.ended_at
  FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job JOIN hanbeon.attempt AS a ON a.job = e.job
  WHERE j.unique_key LIKE '%/'
  UNION ALL
  SELECT e.task_id, e.job, j.id, j.fence, j.started_at, 9223372036854775807
  FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
  WHERE j.unique_key LIKE '%/' AND @hidden(j.state) = 'running'
),
attempts AS (
  SELECT r.*, max(r.ended_at) OVER (
    PARTITION BY r.task_id ORDER BY r.started_at, r.job, r.attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS until
  FROM ran AS r
)
SELECT t.id, k.name AS task, t.attempt, t.started_at, t.until FROM attempts AS t
JOIN hanbeon.task AS k ON k.id = t.task_id
WHERE t.started_at < t.until
ORDER BY t.task_id, t.started_at

-- name: audit_fire_causes
-- Fires and executions must match one to one. Rows that may have been pruned are not expected.
SELECT 'no_execution' AS kind, CAST(f.schedule_id AS text) AS schedule_id, f.fire_at,
  CAST(f.execution_id AS text) AS execution_id, f.recorded_at AS at
FROM hanbeon.fire AS f
WHERE f.outcome = 'created' AND f.recorded_at >= $1 AND NOT EXISTS (
  SELECT 1 FROM hanbeon.job AS j JOIN hanbeon.execution AS e ON e.job = j.seq
  WHERE @has_id(j; f.execution_id) AND e.schedule_id = f.schedule_id AND e.scheduled_at = f.fire_at
)
UNION ALL
SELECT 'no_fire' AS kind, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at AS fire_at,
  CAST(j.id AS text) AS execution_id, j.created_at AS at
FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
WHERE e.type = 'SCHEDULE' AND j.created_at >= $1 AND NOT EXISTS (
  SELECT 1 FROM hanbeon.fire AS f
  WHERE f.schedule_id = e.schedule_id AND f.fire_at = e.scheduled_at AND f.outcome = 'created'
)
UNION ALL
SELECT 'doubled' AS kind, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at AS fire_at,
  CAST(j.id AS text) AS execution_id, j.created_at AS at
FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
WHERE EXISTS (
  SELECT 1 FROM hanbeon.execution AS o
  WHERE o.schedule_id = e.schedule_id AND o.scheduled_at = e.scheduled_at AND o.job <> e.job
)
UNION ALL
-- Decided after the schedule's times had changed, for a time before the change.
SELECT 'outdated' AS kind, CAST(f.schedule_id AS text) AS schedule_id, f.fire_at,
  CAST(f.execution_id AS text) AS execution_id, f.recorded_at AS at
FROM hanbeon.fire AS f JOIN hanbeon.schedule AS s ON s.id = f.schedule_id
WHERE f.outcome = 'created' AND f.fire_at <= s.timed_since AND f.recorded_at > s.timed_since
ORDER BY kind, schedule_id, fire_at, execution_id

-- name: audit_fires
-- Starts with the last line before an instant: that one may stand for several fires.
SELECT f.schedule_id, f.fire_at, f.outcome, f.more, f.recorded_at
FROM @rows($1 AS r; id @uuid, low bigint) JOIN hanbeon.fire AS f ON f.schedule_id = r.id
WHERE f.fire_at >= coalesce(
  (SELECT max(p.fire_at) FROM hanbeon.fire AS p WHERE p.schedule_id = r.id AND p.fire_at < r.low), r.low
)
ORDER BY f.schedule_id, f.fire_at

-- name: audit_pruned
SELECT p.before FROM hanbeon.pruned AS p

-- name: audit_schedules
SELECT s.id, s.definition, s.considered_to, s.timed_since, s.due_at, s.waiting FROM hanbeon.schedule AS s
WHERE s.id > $1 ORDER BY s.id LIMIT $2

-- name: change_schedule
UPDATE hanbeon.schedule
SET name = $2, task_id = $3, definition = $4, paused = $5, considered_to = $6, timed_since = $7, next_fire_at = $8,
  due_at = $9, waiting = $10, declared = $11, deleted_at = $12, version = version + 1, changed_at = hanbeon.now()
WHERE id = $1
RETURNING version

-- name: count_prunable_fires
-- The fires that prune_fires would find if it were repeated until nothing is left.
SELECT count(*) AS rows FROM hanbeon.fire AS f WHERE @prunable_fire

-- name: declared_schedules
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.declared IS NOT NULL
ORDER BY s.id

-- name: delete_schedule
DELETE FROM hanbeon.schedule WHERE id = $1

-- name: due_schedules
-- The next schedules that are due and not locked. One that changed in the meantime is read as it is now, or skipped.
SELECT s.id, s.task_id, s.definition, s.considered_to, s.last_fire_at, s.waiting, hanbeon.now() AS now
FROM hanbeon.schedule AS s
WHERE s.due_at <= (SELECT hanbeon.now())
ORDER BY s.due_at LIMIT $1 @lock_skip

-- name: fires_of
SELECT f.fire_at, f.outcome, f.reason, CAST(f.execution_id AS text) AS execution_id, f.more, f.recorded_at,
  (SELECT j.state FROM hanbeon.job AS j WHERE @has_id(j; f.execution_id)) AS state
FROM hanbeon.fire AS f
WHERE f.schedule_id = $1 AND f.fire_at < $2 AND (CAST($3 AS text) IS NULL OR f.outcome = $3)
ORDER BY f.fire_at DESC LIMIT $4

-- name: insert_fires
-- A second row for the same fire violates the key: that would be a defect, and rolls the transaction back.
INSERT INTO hanbeon.fire (schedule_id, fire_at, outcome, reason, execution_id, more, recorded_at)
SELECT r.schedule_id, r.fire_at, r.outcome, r.reason, r.execution_id, coalesce(r.more, 0), n.now
FROM @rows($1 AS r; schedule_id @uuid, fire_at bigint, outcome text, reason text, execution_id @uuid, more bigint)
CROSS JOIN (SELECT hanbeon.now() AS now) AS n

-- name: last_executions
-- The last executions of these schedules that have ended: from the newest back, past those that have not.
SELECT CAST(r.id AS text) AS schedule_id, CAST(j.id AS text) AS id, j.state
FROM @rows($1 AS r; id @uuid)
JOIN hanbeon.job AS j ON j.seq = (
  SELECT e.job FROM hanbeon.execution AS e JOIN hanbeon.job AS d ON d.seq = e.job
  WHERE e.schedule_id = r.id AND d.finished_at IS NOT NULL
  ORDER BY e.job DESC LIMIT 1
)

-- name: lock_schedule
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id = $1 @lock_schedule

-- name: next_fire
SELECT (SELECT min(s.due_at) FROM hanbeon.schedule AS s WHERE s.due_at IS NOT NULL) - hanbeon.now() AS wait_us,
  EXISTS (SELECT 1 FROM hanbeon.schedule AS w WHERE w.waiting IS NOT NULL) AS waiting

-- name: prune_fires
DELETE FROM hanbeon.fire
WHERE (schedule_id, fire_at) IN (
  SELECT f.schedule_id, f.fire_at FROM hanbeon.fire AS f WHERE @prunable_fire ORDER BY f.recorded_at LIMIT $2
)
RETURNING fire_at

-- name: schedule_by_id
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id = $1

-- name: schedule_counts
-- Each count uses an index of its own: an active schedule has a next fire.
SELECT
  (SELECT count(*) FROM hanbeon.schedule AS a WHERE a.due_at IS NOT NULL) AS active,
  (SELECT count(*) FROM hanbeon.schedule AS p WHERE p.paused AND p.deleted_at IS NULL) AS paused

-- name: schedule_of_name
SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.name = $5 AND s.id > $1 AND s.deleted_at IS NULL
  AND (CAST($3 AS boolean) IS NULL OR s.paused = $3)
  AND (CAST($4 AS text) IS NULL OR t.name = $4)
ORDER BY s.id LIMIT $2

-- name: schedules
SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id > $1 AND s.deleted_at IS NULL
  AND (CAST($3 AS boolean) IS NULL OR s.paused = $3)
ORDER BY s.id LIMIT $2

-- name: schedules_by_id
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id @in($1 @uuid)
ORDER BY s.id

-- name: schedules_named
-- Not by the task's index: for a table that was analysed while it was empty, planners before PostgreSQL 18 consider
-- that whole index, for its order, as cheap as the few entries of the names.
SELECT @schedule_columns
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id + 0
WHERE s.name @in($1 text)
ORDER BY s.name @lock_schedule

-- name: schedules_of_task
SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.task_id = (SELECT k.id FROM hanbeon.task AS k WHERE k.name = $4) AND s.id > $1 AND s.deleted_at IS NULL
  AND (CAST($3 AS boolean) IS NULL OR s.paused = $3)
ORDER BY s.id LIMIT $2

-- name: schedules_paused
SELECT s.id, @schedule_bytes AS bytes
FROM hanbeon.schedule AS s JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.id > $1 AND s.paused AND s.deleted_at IS NULL
ORDER BY s.id LIMIT $2

-- name: set_waiting
UPDATE hanbeon.schedule AS s SET last_fire_at = r.last_fire_at, waiting = r.waiting
FROM @rows($1 AS r; id @uuid, last_fire_at bigint, waiting text)
WHERE s.id = r.id

-- name: start_lag
-- The time for which the longest-due execution that does not run has been due. The oldest come first, so that a limit
-- of them is enough; measured from its creation, because the time before that is the lag of its schedule. By row
-- comparison of (state, seq), as in executions_in_state.
SELECT max(w.lag) AS lag FROM (
  SELECT hanbeon.now() - CASE WHEN r.run_at > r.created_at THEN r.run_at ELSE r.created_at END AS lag
  FROM (
    SELECT j.run_at, j.created_at FROM hanbeon.job AS j
    WHERE @an_execution AND (j.state, j.seq) >= ('ready', 0) AND (j.state, j.seq) < ('ready', 9223372036854775807)
    ORDER BY j.state, j.seq LIMIT $1
  ) AS r
  UNION ALL
  SELECT hanbeon.now() - CASE WHEN p.run_at > p.created_at THEN p.run_at ELSE p.created_at END AS lag
  FROM (
    SELECT j.run_at, j.created_at FROM hanbeon.job AS j
    WHERE @an_execution AND (j.state, j.seq) >= ('pending', 0) AND (j.state, j.seq) < ('pending', 9223372036854775807)
    ORDER BY j.state, j.seq LIMIT $1
  ) AS p
) AS w

-- name: waiting_schedules
SELECT s.id, s.task_id, s.definition, s.considered_to, s.last_fire_at, s.waiting, hanbeon.now() AS now
FROM hanbeon.schedule AS s
WHERE s.waiting IS NOT NULL AND s.id > $2
ORDER BY s.id LIMIT $1 @lock_skip
