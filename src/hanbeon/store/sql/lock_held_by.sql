-- Those of these jobs that the instance is said to run, locked. Others that are locked just now are left out.
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.failure_type, j.idempotency_key, hanbeon.now() AS now
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.instance = $2
ORDER BY j.seq
@lock_skip_job
