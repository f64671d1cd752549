-- Fires and executions must match one to one. Rows that may have been pruned are not expected.
SELECT 'no_execution' AS kind, CAST(f.schedule_id AS text) AS schedule_id, f.fire_at,
  CAST(f.execution_id AS text) AS execution_id, f.recorded_at AS at
FROM hanbeon.fire AS f
WHERE f.outcome = 'created' AND f.recorded_at >= $1 AND NOT EXISTS (
  SELECT 1 FROM hanbeon.job AS j JOIN hanbeon.execution AS e ON e.job = j.seq
  WHERE @has_id(j; f.execution_id) AND e.schedule_id = f.schedule_id AND e.scheduled_at = f.fire_at
)
UNION ALL
SELECT 'no_fire' AS kind, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at AS fire_at,
  CAST(j.id AS text) AS execution_id, j.created_at AS at
FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
WHERE e.type = 'SCHEDULE' AND j.created_at >= $1 AND NOT EXISTS (
  SELECT 1 FROM hanbeon.fire AS f
  WHERE f.schedule_id = e.schedule_id AND f.fire_at = e.scheduled_at AND f.outcome = 'created'
)
UNION ALL
SELECT 'doubled' AS kind, CAST(e.schedule_id AS text) AS schedule_id, e.scheduled_at AS fire_at,
  CAST(j.id AS text) AS execution_id, j.created_at AS at
FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
WHERE EXISTS (
  SELECT 1 FROM hanbeon.execution AS o
  WHERE o.schedule_id = e.schedule_id AND o.scheduled_at = e.scheduled_at AND o.job <> e.job
)
UNION ALL
-- Decided after the schedule's times had changed, for a time before the change.
SELECT 'outdated' AS kind, CAST(f.schedule_id AS text) AS schedule_id, f.fire_at,
  CAST(f.execution_id AS text) AS execution_id, f.recorded_at AS at
FROM hanbeon.fire AS f JOIN hanbeon.schedule AS s ON s.id = f.schedule_id
WHERE f.outcome = 'created' AND f.fire_at <= s.timed_since AND f.recorded_at > s.timed_since
ORDER BY kind, schedule_id, fire_at, execution_id
