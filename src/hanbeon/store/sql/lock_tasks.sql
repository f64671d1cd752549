-- In a fixed order, so that two transactions that need the same tasks do not deadlock.
SELECT t.id, t.name, t.settings FROM hanbeon.task AS t WHERE t.id @in($1 bigint) ORDER BY t.id @lock
