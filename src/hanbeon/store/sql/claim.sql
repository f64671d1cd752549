WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'running', fence = j.fence + 1, instance = $2, locked_until = n.now + $3, started_at = n.now,
  deadline_at = n.now + j.timeout_us, finished_at = NULL
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'ready'
RETURNING j.seq, j.id, j.fence, j.lane, j.args, j.retry_count, j.timeout_us, j.policy, j.idempotency_key, j.run_at,
  j.created_at, j.free_at, j.started_at, j.progress
