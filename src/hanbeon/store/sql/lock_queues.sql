-- First the lock, and only in the next statement the count: a statement's snapshot is older than the lock it waited for.
SELECT q.id, q.paused, q.limits FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @lock
