-- Running jobs, for only they have a lease. PostgreSQL checks it again on what the lock shows: a renewal that came first
-- wins.
SELECT j.seq, j.id, j.lane, j.fence, j.locked_by, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, hanbeon.now() AS now
FROM hanbeon.job AS j
WHERE j.locked_until <= (SELECT hanbeon.now())
ORDER BY j.locked_until LIMIT $1
@lock_skip
