-- The last of the next $2 jobs before $1; none if there are fewer.
SELECT j.seq FROM hanbeon.job AS j WHERE j.seq < $1 ORDER BY j.seq DESC LIMIT 1 OFFSET $2
