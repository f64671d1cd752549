SELECT @run_columns, 'failed' AS state, 0 AS run_at FROM hanbeon.workflow_run AS r WHERE r.job @in($1 bigint) ORDER BY r.job
