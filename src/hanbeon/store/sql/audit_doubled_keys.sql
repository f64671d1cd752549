-- The unique indexes forbid these. They are counted without them, so that a broken index is found out too.
SELECT 'unique_key' AS kind, j.unique_key AS key, j.id, j.state FROM hanbeon.job AS j
JOIN (
  SELECT k.unique_key AS key FROM hanbeon.job AS k
  WHERE k.unique_key IS NOT NULL AND @hidden(k.state) IN (@unfinished_states)
  GROUP BY k.unique_key HAVING count(*) > 1
) AS d ON d.key = j.unique_key
WHERE @hidden(j.state) IN (@unfinished_states)
UNION ALL
SELECT 'idempotency_key' AS kind, j.idempotency_key AS key, j.id, j.state FROM hanbeon.job AS j
JOIN (
  SELECT k.idempotency_key AS key FROM hanbeon.job AS k
  WHERE k.idempotency_key IS NOT NULL
  GROUP BY k.idempotency_key HAVING count(*) > 1
) AS d ON d.key = j.idempotency_key
ORDER BY kind, key, id
