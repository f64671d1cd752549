WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET locked_until = n.now + $2
FROM @rows($1 AS r; seq bigint, fence bigint, instance bigint) CROSS JOIN n
WHERE j.seq = r.seq AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)
  AND @hidden(j.state) = 'running' AND @held_until(j.locked_until) > n.now
RETURNING j.seq
