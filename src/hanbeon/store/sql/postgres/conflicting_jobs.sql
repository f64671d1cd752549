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
