SELECT @workflow_columns FROM hanbeon.workflow AS w WHERE w.run_id @in($1 @uuid) ORDER BY w.id @lock
