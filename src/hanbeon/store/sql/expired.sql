-- Hops from lane to lane among the running jobs: the cost grows with the lanes that have running jobs, not with the
-- jobs. PostgreSQL checks the lease again on the locked row: a renewal that came first wins.
WITH RECURSIVE hop(lane) AS (
  SELECT CAST(0 AS bigint)
  UNION ALL
  SELECT (SELECT min(k.lane) FROM hanbeon.job AS k WHERE k.state = 'running' AND k.lane > hop.lane)
  FROM hop WHERE hop.lane IS NOT NULL
)
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.idempotency_key, j.failure_type, j.dispatched_at, j.unbegun_fence, hanbeon.now() AS now
FROM hop CROSS JOIN hanbeon.job AS j
WHERE j.state = 'running' AND j.lane = hop.lane AND j.locked_until <= (SELECT hanbeon.now())
LIMIT $1
@lock_skip_job
