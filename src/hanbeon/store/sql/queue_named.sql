SELECT q.id FROM hanbeon.queue AS q WHERE q.name = $1
