SELECT r.queue, t.slot, t.flow
FROM @rows($1 AS r; queue text, slot bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
JOIN hanbeon.timing AS t ON t.queue_id = q.id AND t.slot = r.slot
WHERE @few(r.slot)
