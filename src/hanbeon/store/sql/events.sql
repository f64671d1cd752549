-- name: advance_event_counter
UPDATE hanbeon.event_counter SET last_id = $1 WHERE only_row = 1

-- name: event_bodies
SELECT b.first_id, b.at, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id @in($1 bigint) AND b.first_id IS NOT NULL
ORDER BY b.first_id

-- name: event_bounds
SELECT c.last_id, coalesce((SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.first_id > 0),
  c.last_id + 1) AS first_kept
FROM hanbeon.event_counter AS c WHERE c.only_row = 1

-- name: events_after
-- The batch that starts at or before the requested number may reach beyond it; the reader drops events that it has
-- seen. One that does not is omitted here: after a gap left by pruning it would use up the limit of batches.
SELECT b.first_id, octet_length(b.body) AS bytes FROM hanbeon.event_batch AS b
WHERE b.first_id >= coalesce((SELECT max(p.first_id) FROM hanbeon.event_batch AS p WHERE p.first_id <= $1 + 1), 0)
  AND b.first_id + b.count > $1 + 1
ORDER BY b.first_id LIMIT $2

-- name: events_of_queue
-- Like `events_after`, for batches with events of one queue, as far as they are folded. The queue's last batch that
-- starts at or before the requested number may reach beyond it.
SELECT b.first_id, octet_length(b.body) AS bytes FROM hanbeon.queue_batch AS o
JOIN hanbeon.event_batch AS b ON b.first_id = o.first_id
WHERE o.queue_id = (SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1)
  AND o.first_id >= coalesce((SELECT max(p.first_id) FROM hanbeon.queue_batch AS p
    WHERE p.queue_id = (SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1) AND p.first_id <= $2 + 1), 0)
  AND b.first_id + b.count > $2 + 1
ORDER BY o.first_id LIMIT $3

-- name: foldable
SELECT b.first_id, b.count, b.at, b.delta, CASE WHEN b.delta IS NULL THEN b.body END AS body
FROM hanbeon.event_batch AS b
WHERE b.first_id > $1 ORDER BY b.first_id LIMIT $2

-- name: folded_to
SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1

-- name: group_bodies
SELECT b.seq, b.body FROM hanbeon.event_batch AS b WHERE b.seq @in($1 bigint)

-- name: insert_events
INSERT INTO hanbeon.event_batch (at, count, body, delta) VALUES (hanbeon.now(), $1, $2, $3) RETURNING seq

-- name: last_change
-- Differs after every commit with events: its batch is the last unnumbered one, or has been numbered. One that was
-- overtaken by another is noticed when it is numbered.
SELECT (SELECT max(b.seq) FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL) AS last_batch, c.last_id
FROM hanbeon.event_counter AS c WHERE c.only_row = 1

-- name: last_event_id
SELECT last_id FROM hanbeon.event_counter WHERE only_row = 1

-- name: lock_event_counter
SELECT last_id FROM hanbeon.event_counter WHERE only_row = 1 @lock

-- name: number_events
UPDATE hanbeon.event_batch AS b SET first_id = r.first_id
FROM @rows($1 AS r; seq bigint, first_id bigint)
WHERE @few(r.seq) AND b.seq = r.seq

-- name: unfolded
-- All batches that the tallies do not include yet: numbered but unfolded, and unnumbered.
SELECT b.seq, b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
UNION ALL
SELECT b.seq, b.at, b.delta FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL

-- name: unnumbered_events
SELECT b.seq, b.count FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL ORDER BY b.seq LIMIT $1
