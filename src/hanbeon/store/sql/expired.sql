SELECT j.seq, j.id, j.lane, j.fence, j.locked_by, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, n.now
FROM hanbeon.job AS j CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.state = 'running' AND j.locked_until <= n.now
ORDER BY j.locked_until LIMIT $1
