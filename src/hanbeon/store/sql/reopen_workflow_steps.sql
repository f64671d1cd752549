UPDATE hanbeon.workflow_step AS s
SET status = 'retrying', attempts = 0, ended_at = NULL, step_job = NULL
WHERE s.run_id = $1 AND s.step_index >= $2
