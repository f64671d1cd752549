-- name: enqueue_one
-- Own text: within a transaction that has checked the incarnation, and without the event, which the transaction writes.
-- The fast path for the most common enqueue, a single job that waits for nothing: its columns are parameters, not JSON.
-- If an id or a key is taken, nothing is created, and the general path reports why.
INSERT INTO hanbeon.job (state, rank, run_at, created_at, @new_columns)
SELECT 'ready', @rank($urgent; $priority), n.now, n.now, @new_parameters
FROM (SELECT hanbeon.now() AS now) AS n WHERE true
ON CONFLICT DO NOTHING
RETURNING seq, created_at
