-- name: prune_fires
-- Own text: by key the planner may read the whole table; by ctid it cannot. Rows of this table are never updated.
DELETE FROM hanbeon.fire
WHERE ctid = ANY(ARRAY(
  SELECT f.ctid FROM hanbeon.fire AS f WHERE @prunable_fire ORDER BY f.recorded_at LIMIT $2
))
RETURNING fire_at

-- name: set_waiting
-- Own text: each row is found by its ctid. Joined by id, a planner that thinks the table small reads all of it; with an
-- additional list of ids, it compares every schedule with every one of the rows. The ctids are stable: the caller has
-- locked the schedules.
UPDATE hanbeon.schedule AS s SET last_fire_at = r.last_fire_at, waiting = r.waiting
FROM @rows($1 AS r; id uuid, last_fire_at bigint, waiting text)
WHERE s.ctid = (SELECT i.ctid FROM hanbeon.schedule AS i WHERE i.id = r.id)
