-- All lanes, up to $1.
SELECT l.queue_id, l.n FROM hanbeon.lane AS l LIMIT $1
