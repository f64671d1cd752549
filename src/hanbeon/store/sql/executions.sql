-- The newest first.
SELECT e.job AS seq FROM hanbeon.execution AS e
JOIN hanbeon.job AS j ON j.seq = e.job
WHERE e.job < $1
  AND (CAST($2 AS bigint) IS NULL OR e.task_id = $2)
  AND (CAST($3 AS text) IS NULL OR @hidden(j.state) @in($3 text))
  AND (CAST($4 AS text) IS NULL OR e.type = $4)
  AND (CAST($5 AS @uuid) IS NULL OR e.schedule_id = $5)
ORDER BY e.job DESC LIMIT $6
