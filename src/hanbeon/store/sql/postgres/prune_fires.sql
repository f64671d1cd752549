-- Own text: by key the planner may read the whole table beside those that go; by place it cannot. No row of it ever moves.
DELETE FROM hanbeon.fire
WHERE ctid = ANY(ARRAY(
  SELECT f.ctid FROM hanbeon.fire AS f WHERE @prunable_fire ORDER BY f.recorded_at LIMIT $2
))
RETURNING fire_at
