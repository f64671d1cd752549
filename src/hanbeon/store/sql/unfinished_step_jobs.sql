SELECT j.seq FROM hanbeon.workflow_step AS s JOIN hanbeon.job AS j ON @has_id(j; s.step_job)
WHERE s.run_id @in($1 @uuid) AND s.step_job IS NOT NULL AND j.state IN (@unfinished_states)
ORDER BY j.seq
