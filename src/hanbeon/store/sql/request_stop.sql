WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET stop_requested_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.stop_requested_at IS NULL
RETURNING j.seq, j.id, j.lane, j.fence, n.now
