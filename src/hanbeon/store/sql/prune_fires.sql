DELETE FROM hanbeon.fire
WHERE (schedule_id, fire_at) IN (
  SELECT f.schedule_id, f.fire_at FROM hanbeon.fire AS f WHERE @prunable_fire ORDER BY f.recorded_at LIMIT $2
)
RETURNING fire_at
