UPDATE hanbeon.schedule
SET name = $2, task_id = $3, definition = $4, paused = $5, considered_to = $6, timed_since = $7, next_fire_at = $8,
  due_at = $9, waiting = $10, declared = $11, deleted_at = $12, version = version + 1, changed_at = hanbeon.now()
WHERE id = $1
RETURNING version
