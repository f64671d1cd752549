-- Own text: each row is found by its ctid. Joined by id, a planner that thinks the table small reads all of it; with an
-- additional list of ids, it compares every schedule with every one of the rows. The ctids are stable: the caller has
-- locked the schedules.
UPDATE hanbeon.schedule AS s SET last_fire_at = r.last_fire_at, waiting = r.waiting
FROM @rows($1 AS r; id uuid, last_fire_at bigint, waiting text)
WHERE s.ctid = (SELECT i.ctid FROM hanbeon.schedule AS i WHERE i.id = r.id)
