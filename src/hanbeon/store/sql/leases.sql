-- name: grant_time
-- For a write that keeps all others waiting: leases that would run out meanwhile are extended first.
UPDATE hanbeon.job SET locked_until = hanbeon.now() + $1
WHERE state = 'running' AND locked_until > hanbeon.now() AND locked_until < hanbeon.now() + $1
RETURNING seq

-- name: lease_facts
-- The status of leases: still held (by this fence and instance, not expired), and whether a stop was requested.
SELECT r.seq, coalesce(j.state = 'running' AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)
    AND j.locked_until > hanbeon.now(), false) AS held,
  (j.stop_requested_at IS NOT NULL) AS stop, j.locked_until - hanbeon.now() AS left_us
FROM @rows($1 AS r; seq bigint, fence bigint, instance bigint) LEFT JOIN hanbeon.job AS j ON j.seq = r.seq

-- name: note_begin
-- $4: the fence while the body is known not to have begun; NULL before it begins.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET unbegun_fence = $4
FROM n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
RETURNING j.seq

-- name: overdue
-- Locked, so that no event of the attempt's end precedes this one.
SELECT j.seq, j.id, j.lane, j.fence, hanbeon.now() AS now FROM hanbeon.job AS j
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > (SELECT hanbeon.now())
@lock

-- name: progress
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET progress = $4
FROM n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
RETURNING j.seq, j.id, j.lane

-- name: renew
-- A lease is never shortened: its holder may have read that it lasts longer. One that lasts longer than anybody could
-- have granted is from before a step of the clock, and is.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET locked_until = CASE WHEN @held_until(j.locked_until) > n.now + $2 AND @held_until(j.locked_until) <= n.now + $2 + $3
  THEN j.locked_until ELSE n.now + $2 END
FROM @rows($1 AS r; seq bigint, fence bigint, instance bigint) CROSS JOIN n
WHERE j.seq = r.seq AND j.fence = r.fence AND j.instance = coalesce(r.instance, j.instance)
  AND @hidden(j.state) = 'running' AND @held_until(j.locked_until) > n.now
RETURNING j.seq

-- name: short_leases
SELECT 1 FROM hanbeon.job WHERE state = 'running' AND locked_until > hanbeon.now() AND locked_until < hanbeon.now() + $1
LIMIT 1
