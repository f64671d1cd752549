-- Running attempts, locked, whose workers were asked to stop and have not answered.
SELECT j.seq, CAST(j.id AS text) AS id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at,
  j.started_at, j.deadline_at, j.failure_type, hanbeon.now() AS now
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.dispatched_at IS NOT NULL
  AND j.stop_requested_at IS NOT NULL
ORDER BY j.seq @lock
