SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1 AND e.task_id = $5
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
  AND (CAST($4 AS text) IS NULL OR e.type = $4)
ORDER BY e.job DESC LIMIT $2
