-- name: audit_attempts
SELECT a.job, a.attempt, a.status, a.started_at, a.ended_at FROM hanbeon.attempt AS a
WHERE a.job > $1 AND a.job <= $2
ORDER BY a.job, a.attempt, a.started_at

-- name: audit_batches
-- By number and seq, so that a number assigned twice is read twice even if its unique index is broken or missing.
SELECT b.seq, b.at, b.count, b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id >= $1 AND (b.first_id > $1 OR b.seq > $2)
ORDER BY b.first_id, b.seq LIMIT $3

-- name: audit_bounds
SELECT hanbeon.now() AS now, c.last_id,
  (SELECT min(b.at) FROM hanbeon.event_batch AS b) AS oldest_at,
  (SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.first_id IS NOT NULL) AS first_id
FROM hanbeon.event_counter AS c WHERE c.only_row = 1

-- name: audit_dispatches
SELECT 'missing' AS kind, CAST(j.id AS text) AS id, j.seq AS job, j.fence
FROM hanbeon.job AS j
WHERE j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running') AND NOT EXISTS (
  SELECT 1 FROM hanbeon.dispatch AS d WHERE d.job = j.seq AND d.fence = j.fence
)
UNION ALL
SELECT 'left' AS kind, (SELECT CAST(j.id AS text) FROM hanbeon.job AS j WHERE j.seq = d.job) AS id, d.job, d.fence
FROM hanbeon.dispatch AS d
WHERE d.close_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM hanbeon.job AS j
  WHERE j.seq = d.job AND j.fence = d.fence AND j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running')
)
ORDER BY job, kind

-- name: audit_doubled_keys
-- The unique indexes forbid these. Keys are counted without the indexes, so that a broken index is detected too.
SELECT d.kind, d.key, d.id, d.state FROM (
  SELECT 'unique_key' AS kind, j.unique_key AS key, j.id, j.state, count(*) OVER (PARTITION BY j.unique_key) AS holders
  FROM hanbeon.job AS j WHERE j.unique_key IS NOT NULL AND @hidden(j.state) IN (@unfinished_states)
  UNION ALL
  SELECT 'idempotency_key' AS kind, j.idempotency_key AS key, j.id, j.state,
    count(*) OVER (PARTITION BY j.idempotency_key) AS holders
  FROM hanbeon.job AS j WHERE j.idempotency_key IS NOT NULL
) AS d
WHERE d.holders > 1
ORDER BY d.kind, d.key, d.id

-- name: audit_edges
SELECT e.dependent, e.dependency, d.id, d.state, d.finished_at
FROM hanbeon.edge AS e LEFT JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE e.dependent > $1 AND e.dependent <= $2
ORDER BY e.dependent, e.dependency

-- name: audit_indexed
-- Entries without a batch or with a batch of other queues; and entries of unfolded batches, which a reader of the queue
-- would get twice. A batch is searched as text: an unreadable one must not break the audit.
SELECT o.queue_id, q.name AS queue, o.first_id, b.at
FROM hanbeon.queue_batch AS o
LEFT JOIN hanbeon.queue AS q ON q.id = o.queue_id
LEFT JOIN hanbeon.event_batch AS b ON b.first_id = o.first_id
WHERE q.id IS NULL OR b.seq IS NULL OR b.body NOT LIKE '%"' || q.name || '"%'
  OR o.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
ORDER BY o.queue_id, o.first_id

-- name: audit_jobs
-- Not through the view: it hides a job whose lane or queue is gone.
SELECT j.seq, j.id, EXISTS (SELECT 1 FROM @job_ids AS i WHERE i.id = j.id AND i.seq = j.seq) AS has_id,
  q.name AS queue, coalesce(l.role, '') AS role, coalesce(l.concurrency_key, '') AS key, j.state,
  coalesce((SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq), 0) AS unmet, j.blocked, j.recount, j.fence, j.created_at, j.run_at, j.started_at, j.locked_until, j.dispatched_at
FROM hanbeon.job AS j
LEFT JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
LEFT JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32) AND l.queue_id = q.id
WHERE j.seq > $1
ORDER BY j.seq LIMIT $2

-- name: audit_logs
-- Rows of attempts that were never claimed, and rows that overlap the lines of the previous row.
SELECT j.id, l.attempt, j.fence, l.n, l.first_line, l.lines FROM (
  SELECT k.job, k.attempt, k.n, k.first_line, k.lines,
    lag(k.first_line + k.lines) OVER (PARTITION BY k.job, k.attempt ORDER BY k.n) AS next_line
  FROM hanbeon.log AS k
) AS l
JOIN hanbeon.job AS j ON j.seq = l.job
WHERE l.attempt NOT BETWEEN 1 AND j.fence OR l.first_line < l.next_line OR l.lines < 1
ORDER BY j.seq, l.attempt, l.n

-- name: audit_orphans
-- Rows of jobs that do not exist. A job is pruned together with its rows.
SELECT 'attempt' AS kind, a.job AS job, a.attempt AS other FROM hanbeon.past_attempt AS a
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = a.job)
UNION ALL
SELECT 'edge' AS kind, e.dependent AS job, e.dependency AS other FROM hanbeon.edge AS e
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = e.dependent)
UNION ALL
SELECT 'execution' AS kind, x.job AS job, x.task_id AS other FROM hanbeon.execution AS x
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = x.job)
UNION ALL
SELECT 'id' AS kind, i.seq AS job, 0 AS other FROM @job_ids AS i
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = i.seq AND j.id = i.id)
UNION ALL
SELECT 'log' AS kind, l.job AS job, l.attempt AS other FROM hanbeon.log AS l
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = l.job)
GROUP BY l.job, l.attempt
UNION ALL
SELECT 'trace' AS kind, t.job AS job, 0 AS other FROM hanbeon.trace AS t
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = t.job)
UNION ALL
SELECT 'unmet' AS kind, u.job AS job, 0 AS other FROM hanbeon.unmet AS u
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = u.job)
ORDER BY job, kind, other

-- name: audit_queues
SELECT q.name, q.paused, q.limits, q.changed_at FROM hanbeon.queue AS q ORDER BY q.name

-- name: audit_unindexed
-- Batches with events of indexed queues that are missing from the index although they are folded. A batch from before
-- the queue's creation belongs to an earlier queue of the same name, which was deleted with its index.
SELECT r.queue, r.first_id, r.at
FROM @rows($1 AS r; queue text, first_id bigint, at bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
JOIN hanbeon.fold AS f ON f.only_row = 1
WHERE r.first_id <= f.folded_to AND r.at >= q.created_at
  AND NOT EXISTS (SELECT 1 FROM hanbeon.queue_batch AS o WHERE o.queue_id = q.id AND o.first_id = r.first_id)
ORDER BY r.first_id, r.queue

-- name: audit_unnumbered
SELECT b.seq, b.at, b.count, b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL AND b.seq > $1
ORDER BY b.seq LIMIT $2
