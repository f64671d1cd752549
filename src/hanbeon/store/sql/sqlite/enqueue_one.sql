-- Own text: within a transaction that has checked the incarnation, and without the event, which the transaction writes.
-- The fast path for the most common enqueue, a single job that waits for nothing: its columns are parameters, not JSON.
-- If an id or a key is taken, nothing is created, and the general path reports why.
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, on_dependency_failure,
  timeout_us, policy, args, idempotency_key, unique_key, digest, work_item, meta)
SELECT $1, $2, 'ready', $3, $4, @rank($3; $4), n.now, n.now, $5, $6, $7, $8, $9, $10, $11, $12, $13
FROM (SELECT hanbeon.now() AS now) AS n WHERE true
ON CONFLICT DO NOTHING
RETURNING seq, created_at
