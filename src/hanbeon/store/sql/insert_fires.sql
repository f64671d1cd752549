-- A second row for the same fire violates the key: that would be a defect, and rolls the transaction back.
INSERT INTO hanbeon.fire (schedule_id, fire_at, outcome, reason, execution_id, more, recorded_at)
SELECT r.schedule_id, r.fire_at, r.outcome, r.reason, r.execution_id, coalesce(r.more, 0), n.now
FROM @rows($1 AS r; schedule_id @uuid, fire_at bigint, outcome text, reason text, execution_id @uuid, more bigint)
CROSS JOIN (SELECT hanbeon.now() AS now) AS n
