-- The status of leases: still held (by this fence and instance, not expired), and whether a stop was requested.
SELECT r.seq, coalesce(j.state = 'running' AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)
    AND j.locked_until > hanbeon.now(), false) AS held,
  (j.stop_requested_at IS NOT NULL) AS stop, j.locked_until - hanbeon.now() AS left_us
FROM @rows($1 AS r; seq bigint, fence bigint, instance bigint) LEFT JOIN hanbeon.job AS j ON j.seq = r.seq
