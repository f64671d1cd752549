UPDATE hanbeon.instance
SET seen_at = hanbeon.now(), running = $2, tasks = $3, capacity = coalesce($4, capacity),
  schedules = coalesce($5, schedules)
WHERE id = $1
RETURNING id, draining_at
