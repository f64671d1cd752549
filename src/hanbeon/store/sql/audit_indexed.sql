-- Entries without a batch or with a batch of other queues; and entries of unfolded batches, which a reader of the queue
-- would get twice. A batch is searched as text: an unreadable one must not break the audit.
SELECT o.queue_id, q.name AS queue, o.first_id, b.at
FROM hanbeon.queue_batch AS o
LEFT JOIN hanbeon.queue AS q ON q.id = o.queue_id
LEFT JOIN hanbeon.event_batch AS b ON b.first_id = o.first_id
WHERE q.id IS NULL OR b.seq IS NULL OR b.body NOT LIKE '%"' || q.name || '"%'
  OR o.first_id > (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
ORDER BY o.queue_id, o.first_id
