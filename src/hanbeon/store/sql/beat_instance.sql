UPDATE hanbeon.instance SET seen_at = hanbeon.now(), running = $2, tasks = $3 WHERE id = $1 RETURNING id
