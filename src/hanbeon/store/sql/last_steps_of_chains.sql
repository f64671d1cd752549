SELECT s.chain_id, s.run, s.n, s.job_id, s.direction, s.state, s.returned, s.step_job, s.started_at, s.ended_at
FROM hanbeon.chain AS c JOIN hanbeon.chain_step AS s ON s.chain_id = c.id AND s.run = c.run
WHERE c.id @in($1 bigint) ORDER BY s.chain_id, s.n
