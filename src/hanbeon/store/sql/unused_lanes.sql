SELECT l.n FROM hanbeon.lane AS l WHERE l.used_at < hanbeon.now() - $1 ORDER BY l.used_at LIMIT $2
