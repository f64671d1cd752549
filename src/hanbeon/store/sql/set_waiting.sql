UPDATE hanbeon.schedule AS s SET last_fire_at = r.last_fire_at, waiting = r.waiting
FROM @rows($1 AS r; id @uuid, last_fire_at bigint, waiting text)
WHERE s.id = r.id
