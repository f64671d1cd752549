SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = 'pending' AND NOT j.blocked AND j.run_at <= (SELECT hanbeon.now())
ORDER BY j.run_at LIMIT $1 @lock_skip
