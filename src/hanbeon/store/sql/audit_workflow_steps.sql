SELECT s.run_id, s.step_index
FROM hanbeon.workflow_step AS s
LEFT JOIN hanbeon.workflow_step AS p ON p.run_id = s.run_id AND p.step_index = s.step_index - 1
WHERE s.step_index > 0 AND (p.run_id IS NULL OR p.ended_at IS NULL OR p.status NOT IN ('completed', 'failed'))
ORDER BY s.run_id, s.step_index
