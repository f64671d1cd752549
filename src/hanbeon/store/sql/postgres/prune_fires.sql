-- Own text: by key the planner may read the whole table; by ctid it cannot. Rows of this table are never updated.
DELETE FROM hanbeon.fire
WHERE ctid = ANY(ARRAY(
  SELECT f.ctid FROM hanbeon.fire AS f WHERE @prunable_fire ORDER BY f.recorded_at LIMIT $2
))
RETURNING fire_at
