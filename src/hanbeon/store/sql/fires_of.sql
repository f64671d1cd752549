SELECT f.fire_at, f.outcome, f.reason, CAST(f.execution_id AS text) AS execution_id, f.more, f.recorded_at
FROM hanbeon.fire AS f
WHERE f.schedule_id = $1 AND f.fire_at < $2 AND (CAST($3 AS text) IS NULL OR f.outcome = $3)
ORDER BY f.fire_at DESC LIMIT $4
