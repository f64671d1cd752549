SELECT j.lane FROM hanbeon.job AS j WHERE j.seq < $1 ORDER BY j.seq LIMIT $2
