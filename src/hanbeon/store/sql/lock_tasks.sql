-- In one order, so that two who need the same tasks do not wait for each other.
SELECT t.id, t.name, t.settings FROM hanbeon.task AS t WHERE t.id @in($1 bigint) ORDER BY t.id @lock
