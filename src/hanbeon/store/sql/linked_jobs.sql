-- Jobs before or behind another, without their arguments and results, which may be large.
SELECT j.id, l.task, j.state FROM hanbeon.job AS j JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
WHERE j.seq @in($1 bigint) ORDER BY j.seq
