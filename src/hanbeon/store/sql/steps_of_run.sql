SELECT s.chain_id, s.run, s.n, s.job_id, s.direction, s.state, s.returned, s.step_job, s.started_at, s.ended_at
FROM hanbeon.chain_step AS s WHERE s.chain_id = $1 AND s.run >= $2 AND s.run <= $3 ORDER BY s.run, s.n
