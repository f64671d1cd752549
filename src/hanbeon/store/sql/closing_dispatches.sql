SELECT d.n, d.job, d.fence, d.stream, d.wire_id, d.stop, n.now, j.stop_requested_at,
  (j.state = 'running' AND j.fence = d.fence AND j.dispatched_at IS NOT NULL) AS running,
  (j.seq IS NOT NULL AND j.fence = d.fence) AS latest
FROM (SELECT hanbeon.now() AS now) AS n
JOIN hanbeon.dispatch AS d ON d.close_at <= n.now
LEFT JOIN hanbeon.job AS j ON j.seq = d.job
ORDER BY d.close_at LIMIT $1
