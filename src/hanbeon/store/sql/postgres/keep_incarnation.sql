-- PostgreSQL only: fails in a transaction whose view is from before the last restore.
SELECT i.id FROM hanbeon.incarnation AS i WHERE i.only_row = 1 @share
