SELECT j.seq, j.created_at FROM hanbeon.job AS j WHERE j.seq <= $1 ORDER BY j.seq DESC LIMIT 1
