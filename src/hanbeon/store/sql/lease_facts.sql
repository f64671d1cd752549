-- How leases stand: still held (by this fence, not expired), and whether somebody asked to stop the work.
SELECT r.seq, coalesce(j.state = 'running' AND j.fence = r.fence AND j.locked_until > hanbeon.now(), false) AS held,
  (j.stop_requested_at IS NOT NULL) AS stop
FROM @rows($1 AS r; seq bigint, fence bigint) LEFT JOIN hanbeon.job AS j ON j.seq = r.seq
