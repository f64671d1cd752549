-- Own text, because others write at the same time: whatever transaction or single statement writes has read this table,
-- and reading locks it until the commit. So this waits for all that passed the comparison, and others wait for us.
LOCK TABLE hanbeon.incarnation IN ACCESS EXCLUSIVE MODE
