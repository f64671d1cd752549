WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET progress = $4
FROM n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
RETURNING j.seq, j.id, j.lane
