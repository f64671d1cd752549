WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET state = 'ready'
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending' AND NOT j.blocked AND j.run_at <= n.now
RETURNING j.seq, j.id, j.lane, n.now
