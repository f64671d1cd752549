-- PostgreSQL only, where each statement is a round trip: the fast path for the most common enqueue, a single job that
-- waits for nothing, with its event, in one statement that is a transaction by itself. The event's text comes in two
-- parts, with room for the instant between them. Listeners are notified with it, unless they were notified just now.
-- The precondition, if there is one, locks a row in share mode until the commit and returns its version: a concurrent
-- change of that row is waited for, and the row is then read again. If a key is taken, the version is another one or the
-- database was restored, nothing is created, and the general path reports why. An id that is taken at the same moment is
-- a unique violation, with the same result: the id comes last, because that of a job that is not created must not stay.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
kept AS MATERIALIZED (@precondition),
made AS (
  INSERT INTO hanbeon.job (id, lane, state, urgent, priority, rank, run_at, created_at, on_dependency_failure,
    timeout_us, policy, args, idempotency_key, unique_key, digest, work_item, meta)
  SELECT $1::uuid, $2::bigint, 'ready', $3::boolean, $4::integer, @rank($3; $4), n.now, n.now, $5::text, $6::bigint, $7::text,
    $8::text, $9::text, $10::text, $11::text, $12::text, $13::text
  FROM n WHERE (SELECT 1 FROM hanbeon.job_id AS i WHERE i.id = $1) IS NULL
    AND EXISTS (SELECT FROM kept AS k WHERE k.version = $24::bigint)
    AND EXISTS (SELECT FROM hanbeon.incarnation AS i WHERE i.id = $23::text)
  ON CONFLICT DO NOTHING
  RETURNING seq, created_at
),
numbered AS (INSERT INTO hanbeon.job_id (id, seq) SELECT $1, m.seq FROM made AS m),
emitted AS (
  INSERT INTO hanbeon.event_batch (at, count, body, delta)
  SELECT m.created_at, 1, $14::text || m.created_at || $15::text, $16::text FROM made AS m
),
recorded AS (
  INSERT INTO hanbeon.action AS a (id, at, user_name, via, action, target, count)
  SELECT $18::uuid, m.created_at, $19::text, $20::text, $21::text, $22::text, 1 FROM made AS m WHERE $18 IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET count = a.count + excluded.count
)
SELECT m.seq, m.created_at,
  (SELECT count(*) FROM (SELECT pg_notify('@channel', $17::text) WHERE $17 IS NOT NULL) AS n) AS notified
FROM made AS m
