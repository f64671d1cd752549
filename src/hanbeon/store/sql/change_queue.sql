UPDATE hanbeon.queue SET paused = $2, limited = $3, limits = $4, declared = $5, changed_at = hanbeon.now()
WHERE id = $1
RETURNING changed_at
