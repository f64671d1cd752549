-- name: add_lanes
INSERT INTO hanbeon.lane (queue_id, task, role, concurrency_key, used_at)
SELECT q.id, r.task, r.role, r.concurrency_key, hanbeon.now()
FROM @rows($1 AS r; queue text, task text, role text, concurrency_key text)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.task, r.role, r.concurrency_key
ON CONFLICT (queue_id, task, role, concurrency_key) DO UPDATE SET used_at = excluded.used_at

-- name: drop_unused_lanes
-- Checked again: one that was used in the meantime stays.
DELETE FROM hanbeon.lane WHERE n @in($1 bigint) AND used_at < hanbeon.now() - $2
RETURNING n

-- name: lanes_by_number
SELECT l.n, q.name AS queue, l.task, l.role, l.concurrency_key
FROM hanbeon.lane AS l JOIN hanbeon.queue AS q ON q.id = l.queue_id
WHERE l.n @in($1 bigint)

-- name: lanes_known
-- Queues first: PostgreSQL would look for the lanes of a task or role, which may be all there are, once for each row.
WITH named AS MATERIALIZED (
  SELECT q.id, q.name, r.task, r.role, r.concurrency_key
  FROM @rows($1 AS r; queue text, task text, role text, concurrency_key text)
  JOIN hanbeon.queue AS q ON q.name = r.queue
)
SELECT f.id AS queue_id, f.name AS queue, l.n, l.task, l.role, l.concurrency_key
FROM named AS f
JOIN hanbeon.lane AS l ON l.queue_id = f.id AND l.task = f.task AND l.role = f.role
  AND l.concurrency_key = f.concurrency_key

-- name: lanes_of_old_jobs
SELECT j.lane FROM hanbeon.job AS j WHERE j.seq < $1 ORDER BY j.seq LIMIT $2

-- name: touch_lanes
-- In the order of their numbers, in which others lock them.
WITH held AS (SELECT l.n FROM hanbeon.lane AS l WHERE l.n @in($1 bigint) ORDER BY l.n @lock)
UPDATE hanbeon.lane SET used_at = hanbeon.now() WHERE n IN (SELECT h.n FROM held AS h)
RETURNING n

-- name: unused_lanes
SELECT l.n FROM hanbeon.lane AS l WHERE l.used_at < hanbeon.now() - $1 ORDER BY l.used_at LIMIT $2
