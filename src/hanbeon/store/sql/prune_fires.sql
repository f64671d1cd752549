-- A schedule keeps its last fire, however old.
DELETE FROM hanbeon.fire
WHERE (schedule_id, fire_at) IN (
  SELECT f.schedule_id, f.fire_at FROM hanbeon.fire AS f
  WHERE f.recorded_at < (SELECT hanbeon.now()) - $1
    AND f.fire_at < (SELECT coalesce(max(s.last_fire_at), 9223372036854775807) FROM hanbeon.schedule AS s WHERE s.id = f.schedule_id)
  LIMIT $2
)
RETURNING fire_at
