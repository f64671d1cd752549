-- A worker's progress renews its lease, but not beyond the deadline.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET progress = r.progress,
  locked_until = CASE WHEN j.deadline_at < n.now + r.lease_us THEN j.deadline_at ELSE n.now + r.lease_us END
FROM @rows($1 AS r; seq bigint, fence bigint, progress text, lease_us bigint) CROSS JOIN n
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'running'
RETURNING j.seq, j.id, j.lane
