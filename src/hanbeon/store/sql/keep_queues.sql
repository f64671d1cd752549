-- Locked against the deletion of their owners until the commit.
SELECT q.id, q.left_at FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) ORDER BY q.id @share
