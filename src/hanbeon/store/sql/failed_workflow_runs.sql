SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.ended_at, r.error_code, r.error_message
FROM hanbeon.workflow_run AS r
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.status = 'failed' AND r.ended_at > $1
ORDER BY r.ended_at DESC LIMIT $2
