UPDATE hanbeon.instance
SET seen_at = hanbeon.now(), running = $2, tasks = $3, capacity = coalesce($4, capacity)
WHERE id = $1
RETURNING id
