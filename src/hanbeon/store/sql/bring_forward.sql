WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET run_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending' AND j.run_at > n.now
RETURNING j.seq
