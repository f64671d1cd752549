-- The first that is heard of an attempt is its claim; its fence was given at the dispatch.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'running', instance = $2, started_at = n.now, deadline_at = n.now + j.timeout_us,
  locked_until = n.now + CASE WHEN j.timeout_us < r.lease_us THEN j.timeout_us ELSE r.lease_us END
FROM @rows($1 AS r; seq bigint, fence bigint, lease_us bigint) CROSS JOIN n
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NOT NULL
RETURNING j.seq, j.started_at, j.deadline_at
