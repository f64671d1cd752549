SELECT r.run_id FROM hanbeon.workflow_run AS r
WHERE r.workflow_id = $1 AND r.ended_at IS NULL
ORDER BY r.job DESC LIMIT 1
