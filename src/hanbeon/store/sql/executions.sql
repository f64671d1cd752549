-- name: executions
-- Newest first. Jobs are looked up one by one: a join might read all jobs in their order.
SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
  AND (CAST($4 AS text) IS NULL OR e.type = $4)
ORDER BY e.job DESC LIMIT $2

-- name: executions_in_state
-- By row comparison of (state, seq): with a plain equality the planner may walk all jobs in their order.
SELECT j.seq, @job_bytes AS bytes FROM hanbeon.job AS j
WHERE @an_execution AND (j.state, j.seq) >= ($3, 0) AND (j.state, j.seq) < ($3, $1)
  AND (
    SELECT 1 FROM hanbeon.execution AS e
    WHERE e.job = j.seq
      AND (CAST($4 AS text) IS NULL OR e.type = $4)
      AND (CAST($5 AS bigint) IS NULL OR e.task_id = $5)
      AND (CAST($6 AS @uuid) IS NULL OR e.schedule_id = $6)
  ) IS NOT NULL
ORDER BY j.state DESC, j.seq DESC LIMIT $2

-- name: executions_manual
SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1 AND e.type = 'MANUAL'
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
ORDER BY e.job DESC LIMIT $2

-- name: executions_of
SELECT @listed_columns, e.type, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at, e.requested_by, i.name AS instance_name
FROM hanbeon.execution AS e
JOIN hanbeon.jobs AS v ON v.seq = e.job
JOIN hanbeon.job AS j ON j.seq = e.job
LEFT JOIN hanbeon.instance AS i ON i.id = j.instance
WHERE e.job @in($1 bigint)
ORDER BY e.job DESC

-- name: executions_of_schedule
SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1 AND e.schedule_id = $6
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
  AND (CAST($4 AS text) IS NULL OR e.type = $4)
  AND (CAST($5 AS bigint) IS NULL OR e.task_id = $5)
ORDER BY e.job DESC LIMIT $2

-- name: executions_of_task
SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1 AND e.task_id = $5
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
  AND (CAST($4 AS text) IS NULL OR e.type = $4)
ORDER BY e.job DESC LIMIT $2

-- name: insert_executions
INSERT INTO hanbeon.execution (job, task_id, type, schedule_id, scheduled_at, requested_by)
SELECT r.job, r.task_id, r.type, r.schedule_id, r.scheduled_at, r.requested_by
FROM @rows($1 AS r; job bigint, task_id bigint, type text, schedule_id @uuid, scheduled_at bigint, requested_by text)

-- name: prune_executions
DELETE FROM hanbeon.execution WHERE job @in($1 bigint)

-- name: task_of_execution
SELECT e.task_id FROM hanbeon.execution AS e WHERE e.job = $1

-- name: unfinished_executions
-- One unfinished execution of each task that has any; found by the index of unique keys.
SELECT u.id, u.execution
FROM (
  SELECT r.id, (
    SELECT CAST(j.id AS text) FROM hanbeon.job AS j
    WHERE j.unique_key >= r.low AND j.unique_key < r.high AND j.state IN (@unfinished_states) LIMIT 1
  ) AS execution
  FROM @rows($1 AS r; id bigint, low text, high text)
) AS u
WHERE u.execution IS NOT NULL
