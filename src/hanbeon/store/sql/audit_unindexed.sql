-- Batches with events of indexed queues that are missing from the index although they are folded. A batch from before
-- the queue's creation belongs to an earlier queue of the same name, which was deleted with its index.
SELECT r.queue, r.first_id, r.at
FROM @rows($1 AS r; queue text, first_id bigint, at bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
JOIN hanbeon.fold AS f ON f.only_row = 1
WHERE r.first_id <= f.folded_to AND r.at >= q.created_at
  AND NOT EXISTS (SELECT 1 FROM hanbeon.queue_batch AS o WHERE o.queue_id = q.id AND o.first_id = r.first_id)
ORDER BY r.first_id, r.queue
