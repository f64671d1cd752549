-- The running jobs behind these leases, locked; stale fences and expired leases are simply not found.
SELECT j.seq, j.id, j.lane, j.fence, j.locked_by, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, n.now
FROM @rows($1 AS r; seq bigint, fence bigint)
JOIN hanbeon.job AS j ON j.seq = r.seq AND j.fence = r.fence
CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE @hidden(j.state) = 'running' AND j.locked_until > n.now
ORDER BY j.seq
