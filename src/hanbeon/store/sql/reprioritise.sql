WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET priority = coalesce($2, j.priority), urgent = coalesce($3, j.urgent),
  rank = @rank(coalesce($3, j.urgent); coalesce($2, j.priority))
FROM n
WHERE j.seq = $1 AND @hidden(j.state) IN (@unfinished_states)
RETURNING j.seq, j.id, j.lane, j.state, j.priority, j.urgent, n.now
