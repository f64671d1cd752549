-- name: beat_instance
UPDATE hanbeon.instance
SET seen_at = hanbeon.now(), running = $2, tasks = $3, capacity = coalesce($4, capacity),
  schedules = coalesce($5, schedules), blocked_since = NULL, blocked_by = NULL
WHERE id = $1
RETURNING id, draining_at

-- name: blockage_of
SELECT (hanbeon.now() - i.blocked_since) AS us, j.id FROM hanbeon.instance AS i
LEFT JOIN hanbeon.job AS j ON j.seq = i.blocked_by
WHERE i.id = $1 AND i.blocked_since IS NOT NULL

-- name: drain_instance
UPDATE hanbeon.instance
SET draining_at = CASE WHEN CAST($2 AS boolean) THEN coalesce(draining_at, hanbeon.now()) END
WHERE id = $1 AND stopped_at IS NULL
RETURNING id

-- name: follow_one
UPDATE hanbeon.job AS j SET timeout_us = $2, policy = $3
WHERE j.seq = $1 AND @hidden(j.state) IN (@unfinished_states)

-- name: follow_task
-- Unfinished executions get the task's new settings: a timeout applies from the next claim, a policy at the next end.
-- A locked row is skipped: a completion of several jobs may wait for one that we hold.
WITH free AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.unique_key >= $1 AND k.unique_key < $2 AND k.state IN (@unfinished_states)
  ORDER BY k.seq @lock_skip
)
UPDATE hanbeon.job AS j SET timeout_us = $3, policy = $4
WHERE j.seq @among(free)
RETURNING j.seq

-- name: instances
SELECT i.id, i.name, i.host, i.pid, i.version, i.tasks, i.schedules, i.capacity, i.running, i.started_at, i.seen_at,
  i.stopped_at, (i.draining_at IS NOT NULL) AS draining, (i.stopped_at IS NULL AND i.seen_at > hanbeon.now() - $1) AS alive
FROM hanbeon.instance AS i ORDER BY i.id

-- name: lock_tasks
-- In a fixed order, so that two transactions that need the same tasks do not deadlock.
SELECT t.id, t.name, t.settings FROM hanbeon.task AS t WHERE t.id @in($1 bigint) ORDER BY t.id @lock

-- name: note_blocked
UPDATE hanbeon.instance SET seen_at = hanbeon.now(), blocked_since = hanbeon.now() - $3, blocked_by = $2 WHERE id = $1

-- name: register_instance
INSERT INTO hanbeon.instance (id, name, host, pid, version, tasks, capacity, schedules, started_at, seen_at)
SELECT CASE WHEN n.last < n.now THEN n.now ELSE n.last + 1 END, $1, $2, CAST($3 AS integer), $4, $5,
  CAST($6 AS integer), $7, n.now, n.now
FROM (SELECT coalesce(max(i.id), 0) AS last, hanbeon.now() AS now FROM hanbeon.instance AS i) AS n
WHERE true
RETURNING id

-- name: register_tasks
INSERT INTO hanbeon.task (name, settings, registered_by, first_registered_at, registered_at)
SELECT r.name, r.settings, $2, n.now, n.now
FROM @rows($1 AS r; name text, settings text) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
ORDER BY r.name
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, registered_by = excluded.registered_by,
  registered_at = excluded.registered_at

-- name: stop_instance
UPDATE hanbeon.instance SET seen_at = hanbeon.now(), stopped_at = hanbeon.now(), running = 0 WHERE id = $1

-- name: task_ids
SELECT t.id, t.name, t.settings FROM hanbeon.task AS t WHERE t.name @in($1 text) ORDER BY t.id

-- name: tasks
SELECT t.id, t.name, t.settings, t.registered_by, t.first_registered_at, t.registered_at
FROM hanbeon.task AS t
WHERE (CAST($1 AS text) IS NULL OR t.name > $1) AND (CAST($2 AS text) IS NULL OR t.name = $2)
ORDER BY t.name LIMIT $3

-- name: unlike_their_task
-- Unfinished executions that do not have these settings yet.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.unique_key >= $1 AND j.unique_key < $2 AND j.state IN (@unfinished_states)
  AND (j.timeout_us IS DISTINCT FROM $3 OR j.policy <> $4)
ORDER BY j.seq
