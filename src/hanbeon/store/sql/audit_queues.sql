SELECT q.name, q.paused, q.limits, q.changed_at FROM hanbeon.queue AS q ORDER BY q.name
