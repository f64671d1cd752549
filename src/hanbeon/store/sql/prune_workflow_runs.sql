DELETE FROM hanbeon.workflow_run WHERE job @in($1 bigint)
