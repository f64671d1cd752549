-- name: runs_waiting_for_jobs
-- Own text: while the tables are empty, the planner would read all jobs for the few that are named.
SELECT j.seq, j.lane
FROM hanbeon.job AS j
WHERE j.seq = ANY(ARRAY(
  SELECT r.job FROM hanbeon.workflow_step AS s JOIN hanbeon.workflow_run AS r ON r.run_id = s.run_id
  WHERE s.step_job @in($1 @uuid)
)) AND @hidden(j.state) = 'pending'
ORDER BY j.seq
@lock_skip_job
