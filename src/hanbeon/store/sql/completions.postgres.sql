-- name: lock_running
-- Own text: rows are locked in a fixed order, and the clock is read after the locks are acquired, so that a lease that
-- expired while waiting is never taken for a live one.
WITH locked AS MATERIALIZED (
  SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.locked_until, j.retry_count, j.policy, j.stop_requested_at,
    j.started_at, j.deadline_at, j.failure_type
  FROM hanbeon.job AS j
  WHERE j.seq = ANY(ARRAY(SELECT json_array_elements_text($1::json)::bigint)) AND (j.state || '') = 'running'
  ORDER BY j.seq
  FOR NO KEY UPDATE
),
n AS MATERIALIZED (SELECT hanbeon.now() + 0 * count(*) AS now FROM locked)
SELECT l.*, n.now FROM locked AS l CROSS JOIN n WHERE l.locked_until > n.now ORDER BY l.seq

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
-- edges by a function, which sees what was committed after this statement began: whoever adds an edge has locked the
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
