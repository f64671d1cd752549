-- Starts with the last line before an instant: that one may stand for several fires.
SELECT f.schedule_id, f.fire_at, f.outcome, f.more, f.recorded_at
FROM @rows($1 AS r; id @uuid, low bigint) JOIN hanbeon.fire AS f ON f.schedule_id = r.id
WHERE f.fire_at >= coalesce(
  (SELECT max(p.fire_at) FROM hanbeon.fire AS p WHERE p.schedule_id = r.id AND p.fire_at < r.low), r.low
)
ORDER BY f.schedule_id, f.fire_at
