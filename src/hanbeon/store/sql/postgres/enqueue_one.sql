-- PostgreSQL only, where each statement is a journey: the most common way for a job to come into being, a single one that
-- waits for nothing, with its event, in one statement that is a transaction by itself. The event's text comes in two
-- parts, with room for the instant between them. Whoever listens is told with it, if nobody was told just now.
-- In an office it is made only if that is, and until the commit stays, at the version that is expected: whoever changes
-- it just now is waited for, and its row is then looked at again. A key that is taken, another version: nothing is made,
-- and the long way says why.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
kept AS MATERIALIZED (SELECT o.version FROM hanbeon.office AS o WHERE o.id = $18::uuid FOR SHARE),
made AS (
  INSERT INTO hanbeon.job (id, lane, state, urgent, priority, run_at, created_at, unmet, on_dependency_failure,
    timeout_us, policy, args, idempotency_key, unique_key, digest, work_item, meta)
  SELECT $1::uuid, $2::bigint, 'ready', $3::boolean, $4::integer, n.now, n.now, 0, $5::text, $6::bigint, $7::text,
    $8::text, $9::text, $10::text, $11::text, $12::text, $13::text
  FROM n WHERE $18 IS NULL OR EXISTS (SELECT FROM kept AS k WHERE k.version = $19::bigint)
  ON CONFLICT DO NOTHING
  RETURNING seq, created_at
),
told AS (
  INSERT INTO hanbeon.event_batch (at, count, body, delta)
  SELECT m.created_at, 1, $14::text || m.created_at || $15::text, $16::text FROM made AS m
)
SELECT m.seq, m.created_at, (SELECT count(*) FROM (SELECT pg_notify('@channel', $17::text) WHERE $17 IS NOT NULL) AS n) AS told
FROM made AS m
