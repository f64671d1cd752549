WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET state = 'cancelled', finished_at = n.now, replaced_by = CAST($2 AS @uuid)
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('pending', 'ready')
RETURNING j.seq, j.id, j.lane, n.now
