-- name: claim_batch
-- PostgreSQL only, where each statement is a round trip: `claim_lane` with its event, in one statement that is a
-- transaction by itself. The text of the event is $7, which ends where the list of its jobs begins. If the lane has no
-- jobs to give, or the database was restored, nothing is claimed, and the general path finds out why.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
head AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = $1 AND (k.rank, k.seq) > ($5, $6)
    AND EXISTS (SELECT 1 FROM hanbeon.queue AS q WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)
    AND EXISTS (SELECT 1 FROM hanbeon.incarnation AS i WHERE i.id = $8)
  ORDER BY k.rank, k.seq LIMIT $4
  FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
  UPDATE hanbeon.job AS j SET @claimed_by($2; $3)
  FROM n
  WHERE j.seq = ANY(ARRAY(SELECT h.seq FROM head AS h)) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
  RETURNING @claimed_columns
),
emitted AS (
  INSERT INTO hanbeon.event_batch (at, count, body)
  SELECT n.now, t.count, $7::text || t.jobs || ']}]}'
  FROM n CROSS JOIN (
    SELECT count(*) AS count, string_agg(
      '["' || a.id || '",' || a.fence || ',' || greatest(a.run_at, a.created_at, a.free_at) || ']', ','
      ORDER BY a.rank, a.seq) AS jobs
    FROM taken AS a
  ) AS t
  WHERE t.count > 0
)
SELECT * FROM taken AS a ORDER BY a.rank, a.seq

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

-- name: number_jobs
-- PostgreSQL only, where COPY returns no rows: the numbers of the jobs to copy, in order, and their creation time.
SELECT hanbeon.now() AS now, ARRAY(SELECT nextval('hanbeon.job_seq_seq') FROM generate_series(1, $1::integer)) AS seqs

-- name: succeed
-- The fast path for the common end of an attempt, one statement instead of three. Anything but a plain success (a stale
-- fence, an expired lease, a requested stop) is not found here and takes the general path, `lock_running`. Own text:
-- the rows come from an array of keys and their values from a JSON object: with a join, a planner that believes the
-- table small walks the whole index. A locked row is skipped, never waited for: `lock_running` waits, and reads the
-- clock afterwards, so that a lease that expired in the meantime is rejected.
WITH free AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.seq = ANY(ARRAY(SELECT json_array_elements_text($1::json)::bigint))
  ORDER BY k.seq
  FOR NO KEY UPDATE SKIP LOCKED
),
n AS MATERIALIZED (SELECT hanbeon.now() AS now),
done AS (
  UPDATE hanbeon.job AS j
  SET state = 'succeeded', result = $2::jsonb -> j.seq::text ->> 1, finished_at = n.now, failure_type = NULL,
    error_message = NULL, locked_until = NULL, attempt_status = 'completed'
  FROM n
  WHERE j.seq = ANY(ARRAY(SELECT f.seq FROM free AS f))
    AND j.fence = ($2::jsonb -> j.seq::text ->> 0)::bigint AND j.instance = $3 AND (j.state || '') = 'running'
    AND j.stop_requested_at IS NULL AND @held_until(j.locked_until) > n.now
  RETURNING j.seq, CAST(j.id AS text) AS id, j.lane, j.fence, j.started_at, n.now
)
-- Dependents are read in the next statement: this one's snapshot may be older than the locks that it waited for.
SELECT d.seq, d.id, d.lane, d.fence, d.started_at, d.now FROM done AS d

-- name: succeed_batch
-- PostgreSQL only, where each statement is a round trip: the plain successes of attempts with the same fence and their
-- event, in one statement that is a transaction by itself. All of them are written or none: if one is not found (a stale
-- fence, an expired lease, a requested stop, a row that another transaction has locked, a restored database), or if a job
-- depends on one of them, the general path handles them. The clock and the edges are read after the rows are locked, the
-- edges by a function, which sees what was committed after this statement began: a transaction that adds an edge has locked the
-- job until its commit. Results that are alike are $4, others are in the object $5.
WITH free AS MATERIALIZED (
  SELECT k.seq, k.locked_until FROM hanbeon.job AS k
  WHERE k.seq = ANY($1::bigint[]) AND k.fence = $2 AND k.instance = $3 AND @hidden(k.state) = 'running'
    AND k.stop_requested_at IS NULL AND EXISTS (SELECT 1 FROM hanbeon.incarnation AS i WHERE i.id = $7)
  ORDER BY k.seq
  FOR NO KEY UPDATE SKIP LOCKED
),
n AS MATERIALIZED (SELECT hanbeon.now() + 0 * count(*) AS now FROM free),
whole AS MATERIALIZED (
  SELECT n.now FROM n
  WHERE (SELECT count(*) FROM free AS f WHERE f.locked_until > n.now) = cardinality($1)
    AND NOT hanbeon.have_dependents(ARRAY(SELECT f.seq FROM free AS f))
),
done AS (
  UPDATE hanbeon.job AS j
  SET state = 'succeeded', result = CASE WHEN $5::text IS NULL THEN $4::text ELSE $5::jsonb ->> j.seq::text END,
    finished_at = w.now, failure_type = NULL, error_message = NULL, locked_until = NULL, attempt_status = 'completed'
  FROM whole AS w
  WHERE j.seq = ANY(ARRAY(SELECT f.seq FROM free AS f))
),
emitted AS (
  INSERT INTO hanbeon.event_batch (at, count, body) SELECT w.now, cardinality($1), $6::text FROM whole AS w
)
SELECT w.now FROM whole AS w
