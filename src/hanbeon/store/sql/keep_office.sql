-- Locked against changes until the commit; transactions that create jobs in it share the lock. Also a precondition of
-- `enqueue_one`.
SELECT o.version FROM hanbeon.office AS o WHERE o.id = $1 @share
