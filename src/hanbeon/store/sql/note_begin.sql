-- $4: the fence while the body is known not to have begun; NULL before it begins.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET unbegun_fence = $4
FROM n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
RETURNING j.seq
