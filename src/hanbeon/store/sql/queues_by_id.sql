SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.name
