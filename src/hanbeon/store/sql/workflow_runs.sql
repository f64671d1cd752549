SELECT @run_columns, j.state, j.run_at
FROM hanbeon.workflow_run AS r JOIN hanbeon.job AS j ON j.seq = r.job
WHERE r.workflow_id = $1 AND r.job < $2
ORDER BY r.job DESC LIMIT $3
