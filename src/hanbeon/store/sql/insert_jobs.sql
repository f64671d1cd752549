WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, blocked, recount,
  on_dependency_failure, timeout_us, policy, args, idempotency_key, unique_key, digest, work_item, meta)
SELECT r.id, r.lane,
  CASE WHEN r.blocked IS NULL AND coalesce(r.run_at, n.now + coalesce(r.delay, 0)) <= n.now THEN 'ready' ELSE 'pending' END,
  coalesce(r.urgent, false), coalesce(r.priority, 0), @rank(coalesce(r.urgent, false); coalesce(r.priority, 0)),
  coalesce(r.run_at, n.now + coalesce(r.delay, 0)), n.now,
  coalesce(r.blocked, false), coalesce(r.recount, false), coalesce(r.on_dependency_failure, 'block'), r.timeout_us,
  coalesce(r.policy, '{}'), r.args, r.idempotency_key, r.unique_key, r.digest, r.work_item, r.meta
FROM @rows($1 AS r; ord integer, id @uuid, lane bigint, urgent boolean, priority integer, delay bigint, run_at bigint,
  blocked boolean, recount boolean, on_dependency_failure text, timeout_us bigint, policy text, args text,
  idempotency_key text, unique_key text, digest text, work_item text, meta text)
CROSS JOIN n
WHERE true
ORDER BY r.ord
ON CONFLICT DO NOTHING
RETURNING seq, id, lane, state, run_at, created_at
