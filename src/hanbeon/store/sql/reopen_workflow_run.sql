UPDATE hanbeon.workflow_run AS r
SET ended_at = NULL, status = NULL, error_code = NULL, error_message = NULL, due_at = hanbeon.now(),
  changed_at = hanbeon.now()
WHERE r.run_id = $1
