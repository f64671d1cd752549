DELETE FROM hanbeon.workflow_step
WHERE run_id IN (SELECT r.run_id FROM hanbeon.workflow_run AS r WHERE r.job @in($1 bigint))
