SELECT l.n, l.role FROM hanbeon.lane AS l WHERE l.queue_id = $1 AND l.task = $2 ORDER BY l.n
