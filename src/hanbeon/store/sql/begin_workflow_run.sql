UPDATE hanbeon.workflow_run AS r
SET definition = coalesce(r.definition, $2), workflow_data = coalesce(r.workflow_data, $3),
  executed_at = coalesce(r.executed_at, $4),
  late = CASE WHEN r.executed_at IS NULL AND r.kind = 'registered' THEN r.scheduled_time < $4 - $5 ELSE r.late END,
  changed_at = $4
WHERE r.job = $1
