SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane @in($1 bigint)
UNION ALL
SELECT j.seq FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane @in($1 bigint)
ORDER BY seq
