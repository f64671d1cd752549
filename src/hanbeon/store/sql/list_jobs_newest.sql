-- Like `list_jobs`, newest first, before $1.
SELECT v.* FROM hanbeon.jobs AS v
WHERE v.seq < $1
  AND (CAST($2 AS text) IS NULL OR v.queue = $2)
  AND (CAST($3 AS text) IS NULL OR v.state @in($3 text))
  AND (CAST($4 AS text) IS NULL OR v.task = $4)
  AND (CAST($5 AS text) IS NULL OR v.role = $5)
  AND (CAST($6 AS text) IS NULL OR v.work_item = $6)
ORDER BY v.seq DESC LIMIT $7
