-- The running jobs with these numbers whose leases have not expired, locked. The fence tells whose they are.
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.failure_type, n.now
FROM hanbeon.job AS j
CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.locked_until > n.now
ORDER BY j.seq
