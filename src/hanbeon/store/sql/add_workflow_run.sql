INSERT INTO hanbeon.workflow_run (job, run_id, workflow_id, kind, scheduled_time, variables, requested_by, due_at,
  retry_count, late, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $5, 0, false, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
