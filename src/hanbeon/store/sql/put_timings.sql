-- A read-modify-write under the lock of the fold row.
INSERT INTO hanbeon.timing (queue_id, slot, flow)
SELECT r.queue_id, r.slot, r.flow FROM @rows($1 AS r; queue_id bigint, slot bigint, flow text)
WHERE true
ORDER BY r.queue_id, r.slot
ON CONFLICT (queue_id, slot) DO UPDATE SET flow = excluded.flow
