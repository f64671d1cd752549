DELETE FROM hanbeon.queue_batch
WHERE (queue_id, first_id) IN (
  SELECT q.id, r.first_id
  FROM @rows($1 AS r; queue text, first_id bigint)
  JOIN hanbeon.queue AS q ON q.name = r.queue
)
