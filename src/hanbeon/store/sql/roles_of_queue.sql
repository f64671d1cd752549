-- Ever seen there: a lane stays as long as jobs may refer to it.
SELECT DISTINCT l.role FROM hanbeon.lane AS l WHERE l.queue_id = $1 AND l.role <> ''
