SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.due_at
FROM (SELECT hanbeon.now() AS now) AS n
CROSS JOIN hanbeon.workflow_run AS r
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.ended_at IS NULL AND r.due_at >= n.now
ORDER BY r.due_at LIMIT $1
