SELECT r.run_id, r.workflow_id, w.name, r.scheduled_time, r.due_at, n.now
FROM (SELECT hanbeon.now() AS now) AS n
CROSS JOIN hanbeon.workflow_run AS r
JOIN hanbeon.job AS j ON j.seq = r.job
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id
WHERE r.ended_at IS NULL AND r.due_at < n.now - $1 AND j.state <> 'running'
ORDER BY r.due_at LIMIT $2
