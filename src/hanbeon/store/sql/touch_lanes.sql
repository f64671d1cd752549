-- In the order of their numbers, in which others lock them.
WITH held AS (SELECT l.n FROM hanbeon.lane AS l WHERE l.n @in($1 bigint) ORDER BY l.n @lock)
UPDATE hanbeon.lane SET used_at = hanbeon.now() WHERE n IN (SELECT h.n FROM held AS h)
RETURNING n
