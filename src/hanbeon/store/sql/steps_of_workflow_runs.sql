SELECT @step_columns FROM hanbeon.workflow_step AS s WHERE s.run_id @in($1 @uuid) ORDER BY s.run_id, s.step_index
