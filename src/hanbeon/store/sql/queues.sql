SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q ORDER BY q.name
