SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = 'pending' AND j.lane >= $1 AND j.lane < $2 AND NOT j.blocked AND j.run_at <= (SELECT hanbeon.now())
ORDER BY j.seq LIMIT $3 @lock_skip
