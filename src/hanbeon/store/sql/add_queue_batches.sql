INSERT INTO hanbeon.queue_batch (queue_id, first_id)
SELECT q.id, r.first_id
FROM @rows($1 AS r; queue text, first_id bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ON CONFLICT DO NOTHING
