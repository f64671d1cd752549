SELECT j.state, count(*) AS count FROM hanbeon.job AS j WHERE j.lane >= $1 AND j.lane < $2 GROUP BY j.state
