-- name: callers_incarnation
-- PostgreSQL only: the incarnation as a caller's transaction sees it, and if it sees one moment only.
SELECT i.id, current_setting('transaction_isolation') <> 'read committed' AS frozen
FROM hanbeon.incarnation AS i WHERE i.only_row = 1

-- name: keep_incarnation
-- PostgreSQL only: fails in a transaction whose view is from before the last restore.
SELECT i.id FROM hanbeon.incarnation AS i WHERE i.only_row = 1 @share

-- name: lock_incarnation
-- Own text, because others write at the same time: whatever transaction or single statement writes has read this table,
-- and reading locks it until the commit. So this waits for all that passed the comparison, and others wait for us.
LOCK TABLE hanbeon.incarnation IN ACCESS EXCLUSIVE MODE
