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
