SELECT j.seq, j.lane
FROM hanbeon.workflow_step AS s
JOIN hanbeon.workflow_run AS r ON r.run_id = s.run_id
JOIN hanbeon.job AS j ON j.seq = r.job
WHERE s.step_job @in($1 @uuid) AND @hidden(j.state) = 'pending'
ORDER BY j.seq + 0
@lock_skip_job
