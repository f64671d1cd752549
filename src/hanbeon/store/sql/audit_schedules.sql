SELECT s.id, s.definition, s.considered_to, s.timed_since, s.due_at, s.waiting FROM hanbeon.schedule AS s
WHERE s.id > $1 ORDER BY s.id LIMIT $2
