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
