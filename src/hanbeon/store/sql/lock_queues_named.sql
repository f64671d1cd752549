-- In the order in which a claim locks them, to avoid deadlocks.
SELECT q.id, q.name, q.paused, q.limits, q.declared FROM hanbeon.queue AS q WHERE q.name @in($1 text) ORDER BY q.id @lock
