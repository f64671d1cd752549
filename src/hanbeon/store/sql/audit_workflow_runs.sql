SELECT r.run_id, r.status, j.state
FROM hanbeon.workflow_run AS r LEFT JOIN hanbeon.job AS j ON j.seq = r.job
WHERE coalesce(r.status, 'none') <> CASE coalesce(j.state, 'gone') WHEN 'succeeded' THEN 'completed'
  WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' WHEN 'gone' THEN 'gone' ELSE 'none' END
ORDER BY r.job
