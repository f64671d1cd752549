-- Like `events_after`, for batches with events of one queue, as far as they are folded. The queue's last batch that
-- starts at or before the requested number may reach beyond it.
SELECT b.first_id, octet_length(b.body) AS bytes FROM hanbeon.queue_batch AS o
JOIN hanbeon.event_batch AS b ON b.first_id = o.first_id
WHERE o.queue_id = (SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1)
  AND o.first_id >= coalesce((SELECT max(p.first_id) FROM hanbeon.queue_batch AS p
    WHERE p.queue_id = (SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1) AND p.first_id <= $2 + 1), 0)
  AND b.first_id + b.count > $2 + 1
ORDER BY o.first_id LIMIT $3
