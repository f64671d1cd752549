WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
INSERT INTO hanbeon.job (state, rank, run_at, created_at, blocked, recount, @new_columns)
SELECT
  CASE WHEN r.blocked IS NULL AND coalesce(r.run_at, n.now + coalesce(r.delay, 0)) <= n.now THEN 'ready' ELSE 'pending' END,
  @rank(coalesce(r.urgent, false); coalesce(r.priority, 0)), coalesce(r.run_at, n.now + coalesce(r.delay, 0)), n.now,
  coalesce(r.blocked, false), coalesce(r.recount, false), @new_values(r)
FROM @rows($1 AS r; ord integer, delay bigint, run_at bigint, blocked boolean, recount boolean, @new_types)
CROSS JOIN n
WHERE true
ORDER BY r.ord
ON CONFLICT DO NOTHING
RETURNING seq, id, lane, state, run_at, created_at
