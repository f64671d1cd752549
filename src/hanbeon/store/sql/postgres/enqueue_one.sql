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
  INSERT INTO hanbeon.job (state, rank, run_at, created_at, @new_columns)
  SELECT 'ready', @rank($urgent; $priority), n.now, n.now, @new_parameters
  FROM n WHERE (SELECT 1 FROM hanbeon.job_id AS i WHERE i.id = $id) IS NULL
    AND EXISTS (SELECT FROM kept AS k WHERE k.version = $11::bigint)
    AND EXISTS (SELECT FROM hanbeon.incarnation AS i WHERE i.id = $10::text)
  ON CONFLICT DO NOTHING
  RETURNING seq, created_at
),
numbered AS (INSERT INTO hanbeon.job_id (id, seq) SELECT $id, m.seq FROM made AS m),
emitted AS (
  INSERT INTO hanbeon.event_batch (at, count, body, delta)
  SELECT m.created_at, 1, $1::text || m.created_at || $2::text, $3::text FROM made AS m
),
recorded AS (
  INSERT INTO hanbeon.action AS a (id, at, user_name, via, action, target, count)
  SELECT $5::uuid, m.created_at, $6::text, $7::text, $8::text, $9::text, 1 FROM made AS m WHERE $5 IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET count = a.count + excluded.count
)
SELECT m.seq, m.created_at,
  (SELECT count(*) FROM (SELECT pg_notify('@channel', $4::text) WHERE $4 IS NOT NULL) AS n) AS notified
FROM made AS m
