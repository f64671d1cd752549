SELECT e.job AS seq, (SELECT @job_bytes FROM hanbeon.job AS j WHERE j.seq = e.job) AS bytes
FROM hanbeon.execution AS e
WHERE e.job < $1 AND e.type = 'MANUAL'
  AND (CAST($3 AS text) IS NULL OR (SELECT j.state FROM hanbeon.job AS j WHERE j.seq = e.job) @in($3 text))
ORDER BY e.job DESC LIMIT $2
