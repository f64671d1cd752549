UPDATE hanbeon.workflow_run AS r
SET due_at = $2, retry_count = r.retry_count + $3, changed_at = hanbeon.now()
WHERE r.job = $1
