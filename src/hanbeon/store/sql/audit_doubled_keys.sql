-- The unique indexes forbid these. Keys are counted without the indexes, so that a broken index is detected too.
SELECT d.kind, d.key, d.id, d.state FROM (
  SELECT 'unique_key' AS kind, j.unique_key AS key, j.id, j.state, count(*) OVER (PARTITION BY j.unique_key) AS holders
  FROM hanbeon.job AS j WHERE j.unique_key IS NOT NULL AND @hidden(j.state) IN (@unfinished_states)
  UNION ALL
  SELECT 'idempotency_key' AS kind, j.idempotency_key AS key, j.id, j.state,
    count(*) OVER (PARTITION BY j.idempotency_key) AS holders
  FROM hanbeon.job AS j WHERE j.idempotency_key IS NOT NULL
) AS d
WHERE d.holders > 1
ORDER BY d.kind, d.key, d.id
