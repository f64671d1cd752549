-- name: conflicting_jobs
-- Own text: removes the ids that `insert_jobs` wrote for jobs that were then rejected for another key. An id that other
-- transactions can see has its job.
WITH unused AS (
  DELETE FROM hanbeon.job_id AS i
  WHERE i.id @in($1 @uuid) AND (SELECT 1 FROM hanbeon.job AS k WHERE k.seq = i.seq) IS NULL
)
SELECT j.id, j.state, j.digest, j.idempotency_key, j.unique_key
FROM hanbeon.job AS j
WHERE @id_in(j; $1)
  OR j.idempotency_key @in($2 text)
  OR (j.unique_key @in($3 text) AND j.state IN (@unfinished_states))

-- name: enqueue_one
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

-- name: insert_jobs
-- Own text: keys are inserted in a fixed order, not in array order: two batches that share some would wait for each
-- other, and deadlock. The array's order is kept by the numbers, which are assigned before. Ids come first: if a job is
-- then rejected for another key, its id is left, until `conflicting_jobs` removes it.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
r AS MATERIALIZED (
  SELECT nextval('hanbeon.job_seq_seq') AS seq, a.*
  FROM (
    SELECT * FROM
      @rows($1 AS b; ord integer, delay bigint, run_at bigint, blocked boolean, recount boolean, @new_types)
    ORDER BY b.ord
  ) AS a
),
free AS (
  INSERT INTO hanbeon.job_id (id, seq) SELECT r.id, r.seq FROM r ORDER BY r.id
  ON CONFLICT DO NOTHING
  RETURNING seq
)
INSERT INTO hanbeon.job (seq, state, rank, run_at, created_at, blocked, recount, @new_columns)
OVERRIDING SYSTEM VALUE
SELECT r.seq,
  CASE WHEN r.blocked IS NULL AND coalesce(r.run_at, n.now + coalesce(r.delay, 0)) <= n.now THEN 'ready' ELSE 'pending' END,
  @rank(coalesce(r.urgent, false); coalesce(r.priority, 0)), coalesce(r.run_at, n.now + coalesce(r.delay, 0)), n.now,
  coalesce(r.blocked, false), coalesce(r.recount, false), @new_values(r)
FROM r CROSS JOIN n
-- As a value, not as a condition: that would become a join, row by row, because the engine's sessions have no other.
WHERE (r.seq IN (SELECT f.seq FROM free AS f)) IS TRUE
ORDER BY r.unique_key, r.idempotency_key, r.id
ON CONFLICT DO NOTHING
RETURNING seq, id, lane, state, run_at, created_at

-- name: number_jobs
-- PostgreSQL only, where COPY returns no rows: the numbers of the jobs to copy, in order, and their creation time.
SELECT hanbeon.now() AS now, ARRAY(SELECT nextval('hanbeon.job_seq_seq') FROM generate_series(1, $1::integer)) AS seqs
