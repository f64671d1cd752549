UPDATE hanbeon.workflow_run AS r SET skipped = $2 WHERE r.run_id = $1
