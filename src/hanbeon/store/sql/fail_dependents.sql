WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'failed', finished_at = n.now, failure_type = 'dependency_failed', error_message = $2
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending'
RETURNING j.seq, j.id, j.lane, n.now
