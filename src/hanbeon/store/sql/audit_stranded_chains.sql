SELECT c.id, c.run, c.step_job, j.state
FROM hanbeon.chain AS c LEFT JOIN hanbeon.job AS j ON @has_id(j; c.step_job)
WHERE c.state = 'RUNNING' AND coalesce(j.state, 'gone') NOT IN (@unfinished_states)
