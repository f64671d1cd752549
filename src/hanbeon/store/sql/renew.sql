-- A lease is never shortened: its holder may have read that it lasts longer. One that lasts longer than anybody could
-- have granted is from before a step of the clock, and is.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET locked_until = CASE WHEN @held_until(j.locked_until) > n.now + $2 AND @held_until(j.locked_until) <= n.now + $2 + $3
  THEN j.locked_until ELSE n.now + $2 END
FROM @rows($1 AS r; seq bigint, fence bigint, instance bigint) CROSS JOIN n
WHERE j.seq = r.seq AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)
  AND @hidden(j.state) = 'running' AND @held_until(j.locked_until) > n.now
RETURNING j.seq
