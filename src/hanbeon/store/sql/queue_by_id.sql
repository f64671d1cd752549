SELECT q.id, q.name, q.paused, q.limits FROM hanbeon.queue AS q WHERE q.id = $1
