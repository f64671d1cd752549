-- name: add_queues
INSERT INTO hanbeon.queue (name, created_at, changed_at)
SELECT DISTINCT r.name, n.now, n.now
FROM @rows($1 AS r; name text) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
ORDER BY r.name
ON CONFLICT DO NOTHING

-- name: capacity
-- The workers that are alive, and how much they can run at once.
SELECT count(*) AS workers, coalesce(CAST(sum(i.capacity) AS bigint), 0) AS slots FROM hanbeon.instance AS i
WHERE i.stopped_at IS NULL AND i.seen_at > hanbeon.now() - $1

-- name: change_queue
UPDATE hanbeon.queue SET paused = $2, limited = $3, limits = $4, declared = $5, changed_at = hanbeon.now()
WHERE id = $1
RETURNING changed_at

-- name: drop_lanes
DELETE FROM hanbeon.lane WHERE queue_id @in($1 bigint)

-- name: drop_queue_batches
DELETE FROM hanbeon.queue_batch WHERE queue_id @in($1 bigint)

-- name: drop_queues
DELETE FROM hanbeon.queue WHERE id @in($1 bigint)

-- name: drop_tallies
DELETE FROM hanbeon.tally WHERE queue_id @in($1 bigint)

-- name: drop_timings
DELETE FROM hanbeon.timing WHERE queue_id @in($1 bigint)

-- name: keep_queues
-- Locked against the deletion of their owners until the commit.
SELECT q.id, q.left_at FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @share

-- name: lock_queues_named
-- In the order in which a claim locks them, to avoid deadlocks.
SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q WHERE q.name @in($1 text) ORDER BY q.id @lock

-- name: long_orphaned_queues
SELECT q.id, q.name FROM hanbeon.queue AS q WHERE @long_left

-- name: mark_orphaned_queues
-- Marks queues whose owner is deleted, or unmarks them when it is created again.
UPDATE hanbeon.queue SET left_at = CASE WHEN CAST($2 AS boolean) THEN hanbeon.now() END WHERE name @in($1 text)

-- name: orphaned_queues
-- Queues that were orphaned that long ago and have no jobs left, according to the folded tallies and the indexes.
-- Looked up one by one: joins would read all jobs whenever the planner thinks that there are few. (`+ 0`: SQLite would
-- convert the expression to the column's type for the comparison, and not use its index.) Locked rows are skipped.
SELECT q.id FROM hanbeon.queue AS q
WHERE @long_left
  AND (SELECT 1 FROM hanbeon.tally AS t WHERE t.queue_id = q.id AND t.jobs <> 0 LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE (j.lane >> 32) = q.id + 0 AND j.meta IS NOT NULL LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'running' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
ORDER BY q.left_at LIMIT $2
@lock_to_delete

-- name: queue_by_id
SELECT q.id, q.name, q.paused, q.limits FROM hanbeon.queue AS q WHERE q.id = $1

-- name: queue_by_name
SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q WHERE q.name = $1 @lock

-- name: queue_count
SELECT count(*) AS queues FROM hanbeon.queue

-- name: queue_id_of
SELECT (j.lane >> 32) AS queue_id, hanbeon.now() AS now FROM hanbeon.job AS j WHERE @has_id(j; $1)

-- name: queue_named
SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1

-- name: queues
SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q ORDER BY q.name

-- name: queues_after
-- A page of queues by name: their ids, and the sizes of what is shown of each.
SELECT q.id, octet_length(q.limits) + coalesce(octet_length(q.declared), 0) AS bytes
FROM hanbeon.queue AS q WHERE q.name > $1 ORDER BY q.name LIMIT $2

-- name: queues_by_id
SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.name

-- name: queues_named_like
-- A page of the queues whose name holds a text, by name: their ids, and the sizes of what is shown of each. Names are
-- looked for in their index alone; the rows of those that are found follow.
SELECT q.id, octet_length(q.limits) + coalesce(octet_length(q.declared), 0) AS bytes
FROM hanbeon.queue AS q WHERE q.name IN (
  SELECT n.name FROM hanbeon.queue AS n WHERE n.name > $1 AND @contains(n.name; $2) ORDER BY n.name LIMIT $3
) ORDER BY q.name
