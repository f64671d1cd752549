-- A read-modify-write under the lock of the fold row.
INSERT INTO hanbeon.timing (queue_id, slot, flow)
SELECT q.id, r.slot, r.flow
FROM @rows($1 AS r; queue text, slot bigint, flow text)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.slot
ON CONFLICT (queue_id, slot) DO UPDATE SET flow = excluded.flow
