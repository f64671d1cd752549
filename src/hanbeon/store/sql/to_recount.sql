SELECT j.seq FROM hanbeon.job AS j WHERE j.recount ORDER BY j.seq LIMIT $1
