-- Lock here, and count in the next statement: a statement's snapshot is older than the lock that it waited for.
SELECT q.id, q.paused, q.limits, q.streamed FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @lock
