WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET fence = j.fence + 1, dispatched_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
RETURNING @claimed_columns, n.now
