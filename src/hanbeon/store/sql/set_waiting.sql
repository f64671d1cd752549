-- As in advance_schedules.
UPDATE hanbeon.schedule AS s SET last_fire_at = r.last_fire_at, waiting = r.waiting
FROM @rows($1 AS r; id @uuid, last_fire_at bigint, waiting text, n bigint)
WHERE s.id @in($2 @uuid) AND s.id = r.id AND @few(r.n)
