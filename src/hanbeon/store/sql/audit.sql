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
  (SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.first_id IS NOT NULL) AS first_id,
  (SELECT min(j.seq) FROM hanbeon.job AS j) AS first_job, (SELECT max(j.seq) FROM hanbeon.job AS j) AS last_job
FROM hanbeon.event_counter AS c WHERE c.only_row = 1

-- name: audit_dispatches
SELECT 'missing' AS kind, CAST(j.id AS text) AS id, j.seq AS job, j.fence
FROM hanbeon.job AS j
WHERE j.seq > $1 AND j.seq <= $2
  AND j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running') AND NOT EXISTS (
  SELECT 1 FROM hanbeon.dispatch AS d WHERE d.job = j.seq AND d.fence = j.fence
)
UNION ALL
SELECT 'left' AS kind, (SELECT CAST(j.id AS text) FROM hanbeon.job AS j WHERE j.seq = d.job) AS id, d.job, d.fence
FROM hanbeon.dispatch AS d
WHERE d.job > $1 AND d.job <= $2 AND d.close_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM hanbeon.job AS j
  WHERE j.seq = d.job AND j.fence = d.fence AND j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running')
)
ORDER BY job, kind

-- name: audit_edges
SELECT e.dependent, e.dependency, d.id, d.state, d.finished_at
FROM hanbeon.edge AS e LEFT JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE e.dependent > $1 AND e.dependent <= $2
ORDER BY e.dependent, e.dependency

-- name: audit_ids
-- Ids that lead to no job; the last of the page is there in any case.
WITH page AS (
  SELECT i.id, i.seq FROM hanbeon.job_id AS i WHERE i.id > CAST($1 AS uuid) ORDER BY i.id LIMIT $2
)
SELECT p.id, p.seq, EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = p.seq AND j.id = p.id) AS found
FROM page AS p
WHERE p.id = (SELECT max(CAST(m.id AS text)) FROM page AS m)::uuid
  OR NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = p.seq AND j.id = p.id)
ORDER BY p.id

-- name: audit_indexed
-- Entries without a batch or with a batch of other queues; and entries of unfolded batches, which a reader of the queue
-- would get twice. A batch is searched as text: an unreadable one must not break the audit. The last entry of the page
-- is there in any case.
WITH page AS (
  SELECT o.queue_id, o.first_id FROM hanbeon.queue_batch AS o
  WHERE o.queue_id >= $1 AND (o.queue_id > $1 OR o.first_id > $2)
  ORDER BY o.queue_id, o.first_id LIMIT $3
), last AS (
  SELECT p.queue_id, p.first_id FROM page AS p ORDER BY p.queue_id DESC, p.first_id DESC LIMIT 1
), entry AS (
  SELECT p.queue_id, q.name AS queue, p.first_id, b.at,
    (q.id IS NULL OR b.seq IS NULL OR b.body NOT LIKE '%"' || q.name || '"%'
      OR p.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)) AS misleads
  FROM page AS p
  LEFT JOIN hanbeon.queue AS q ON q.id = p.queue_id
  LEFT JOIN hanbeon.event_batch AS b ON b.first_id = p.first_id
)
SELECT e.queue_id, e.queue, e.first_id, e.at, e.misleads FROM entry AS e JOIN last AS z ON true
WHERE e.misleads OR (e.queue_id = z.queue_id AND e.first_id = z.first_id)
ORDER BY e.queue_id, e.first_id

-- name: audit_jobs
-- Not through the view: it hides a job whose lane or queue is gone. $3 is the queue, or 0; $4 and $5 bound the end of
-- those that have ended, and $6 says if the others count.
SELECT j.seq, j.id, EXISTS (SELECT 1 FROM @job_ids AS i WHERE i.id = j.id AND i.seq = j.seq) AS has_id,
  q.name AS queue, (j.lane & 4294967295) AS lane, j.state,
  coalesce((SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq), 0) AS unmet, j.blocked, j.recount,
  j.fence, j.created_at, j.run_at, j.started_at, j.locked_until, j.dispatched_at,
  CASE WHEN j.state IN (@unfinished_states) THEN j.unique_key END AS unique_key, j.idempotency_key,
  j.state = 'succeeded' AND coalesce(j.attempt_status, '') <> 'completed' AS ended_by_no_attempt,
  CASE WHEN j.state = 'succeeded' AND j.attempt_status IS NULL THEN EXISTS (
    SELECT 1 FROM hanbeon.hand_move AS m WHERE m.job = j.seq AND m.reason = 'marked_done'
  ) ELSE false END AS marked_done,
  (SELECT x.at FROM hanbeon.expiry AS x WHERE x.job = j.seq AND x.open) AS expires_at
FROM hanbeon.job AS j
LEFT JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
LEFT JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32) AND l.queue_id = q.id
WHERE j.seq > $1 AND j.seq <= $2 AND ((j.lane >> 32) = $3 OR $3 = 0)
  AND (j.finished_at >= $4 AND j.finished_at < $5 OR j.finished_at IS NULL AND $6 = 1)
ORDER BY j.seq

-- name: audit_keys
SELECT j.id, j.state, CASE WHEN j.state IN (@unfinished_states) THEN j.unique_key END AS unique_key, j.idempotency_key
FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)

-- name: audit_lanes
SELECT l.n, l.role, l.concurrency_key FROM hanbeon.lane AS l WHERE l.n @in($1 bigint)

-- name: audit_logs
-- Rows of attempts that were never claimed, and rows that overlap the lines of the previous row.
SELECT j.id, l.attempt, j.fence, l.n, l.first_line, l.lines, l.attempt BETWEEN 1 AND j.fence AS claimed FROM (
  SELECT k.job, k.attempt, k.n, k.first_line, k.lines,
    lag(k.first_line + k.lines) OVER (PARTITION BY k.job, k.attempt ORDER BY k.n) AS next_line
  FROM hanbeon.log AS k WHERE k.job > $1 AND k.job <= $2
) AS l
JOIN hanbeon.job AS j ON j.seq = l.job
WHERE (l.attempt NOT BETWEEN 1 AND j.fence OR l.first_line < l.next_line OR l.lines < 1)
  AND ((j.lane >> 32) = $3 OR $3 = 0)
ORDER BY j.seq, l.attempt, l.n

-- name: audit_orphans
-- Rows of jobs that do not exist. A job is pruned together with its rows.
SELECT 'attempt' AS kind, a.job AS job, a.attempt AS other FROM hanbeon.past_attempt AS a
WHERE a.job > $1 AND a.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = a.job)
UNION ALL
SELECT 'edge' AS kind, e.dependent AS job, e.dependency AS other FROM hanbeon.edge AS e
WHERE e.dependent > $1 AND e.dependent <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = e.dependent)
UNION ALL
SELECT 'exception' AS kind, x.job AS job, x.attempt AS other FROM hanbeon.attempt_exception AS x
WHERE x.job > $1 AND x.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = x.job)
UNION ALL
SELECT 'execution' AS kind, x.job AS job, x.task_id AS other FROM hanbeon.execution AS x
WHERE x.job > $1 AND x.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = x.job)
UNION ALL
SELECT 'hand move' AS kind, m.job AS job, m.n AS other FROM hanbeon.hand_move AS m
WHERE m.job > $1 AND m.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = m.job)
UNION ALL
SELECT 'expiry' AS kind, x.job AS job, 0 AS other FROM hanbeon.expiry AS x
WHERE x.job > $1 AND x.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = x.job)
UNION ALL
SELECT 'log' AS kind, l.job AS job, l.attempt AS other FROM hanbeon.log AS l
WHERE l.job > $1 AND l.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = l.job)
GROUP BY l.job, l.attempt
UNION ALL
SELECT 'trace' AS kind, t.job AS job, 0 AS other FROM hanbeon.trace AS t
WHERE t.job > $1 AND t.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = t.job)
UNION ALL
SELECT 'unmet' AS kind, u.job AS job, 0 AS other FROM hanbeon.unmet AS u
WHERE u.job > $1 AND u.job <= $2
  AND NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = u.job)
ORDER BY job, kind, other

-- name: audit_page
-- The last of the next so many jobs.
SELECT max(p.seq) AS last FROM (SELECT j.seq FROM hanbeon.job AS j WHERE j.seq > $1 ORDER BY j.seq LIMIT $2) AS p

-- name: audit_queues
SELECT q.id, q.name, q.paused, q.limited, q.limits, q.changed_at FROM hanbeon.queue AS q ORDER BY q.name

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

-- name: audit_window
-- The numbers of the first batch that was written from an instant on, and of the last one before another.
SELECT (SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.at >= $1 AND b.first_id IS NOT NULL) AS first_id,
  (SELECT max(b.first_id + b.count - 1) FROM hanbeon.event_batch AS b WHERE b.at < $2 AND b.first_id IS NOT NULL)
    AS last_id
