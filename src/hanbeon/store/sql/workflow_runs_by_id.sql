SELECT @run_columns, j.state, j.run_at FROM hanbeon.workflow_run AS r JOIN hanbeon.job AS j ON j.seq = r.job
WHERE r.run_id @in($1 @uuid) ORDER BY r.job
