INSERT INTO hanbeon.chain_step (chain_id, run, n, job_id, direction, state, returned, step_job, started_at, ended_at)
SELECT r.chain_id, r.run, r.n, r.job_id, r.direction, r.state, r.returned, r.step_job, r.started_at, r.ended_at
FROM @rows($1 AS r; chain_id bigint, run bigint, n integer, job_id bigint, direction text, state text, returned text,
  step_job @uuid, started_at bigint, ended_at bigint)
WHERE true
