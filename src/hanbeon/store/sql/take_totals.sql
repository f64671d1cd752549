-- Only if there are many: on a quiet database nothing is written.
DELETE FROM hanbeon.total
WHERE (SELECT count(*) FROM hanbeon.total) > $1 AND seq <= (SELECT max(t.seq) FROM hanbeon.total AS t)
RETURNING name, value
