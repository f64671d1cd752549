WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET @claimed_by($2; $3)
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
RETURNING @claimed_columns
