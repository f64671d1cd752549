-- PostgreSQL only: the incarnation as a caller's transaction sees it, and if it sees one moment only.
SELECT i.id, current_setting('transaction_isolation') <> 'read committed' AS frozen
FROM hanbeon.incarnation AS i WHERE i.only_row = 1
