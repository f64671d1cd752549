-- name: close_expiries
-- They are looked at; `fence`: the attempt that is stopped.
UPDATE hanbeon.expiry AS x SET open = false, fence = r.fence
FROM @rows($1 AS r; job bigint, fence bigint)
WHERE @few(r.job) AND x.job = r.job

-- name: drop_expiries
-- Of jobs that run again: an expiry that lies ahead stays.
DELETE FROM hanbeon.expiry WHERE job @in($1 bigint) AND (NOT open OR at <= (SELECT hanbeon.now()))

-- name: expire
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET state = 'failed', finished_at = n.now, failure_type = 'expired', error_message = $2
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('pending', 'ready')
RETURNING j.seq, j.id, j.lane, n.now

-- name: expired_attempts
SELECT x.job, x.fence FROM hanbeon.expiry AS x WHERE x.job @in($1 bigint) AND x.fence IS NOT NULL

-- name: expiring
-- Finished jobs among them only have their rows closed. What another transaction locks is left for the next round.
SELECT j.seq, j.id, j.lane, j.state, j.fence, j.deadline_at, j.stop_requested_at, j.dispatched_at, hanbeon.now() AS now
FROM hanbeon.expiry AS x JOIN hanbeon.job AS j ON j.seq = x.job
WHERE x.open AND x.at <= (SELECT hanbeon.now())
ORDER BY x.at LIMIT $1 @lock_skip_job

-- name: insert_expiries
INSERT INTO hanbeon.expiry (job, at)
SELECT r.job, r.at FROM @rows($1 AS r; job bigint, at bigint)

-- name: prune_expiries
DELETE FROM hanbeon.expiry WHERE job @in($1 bigint)

-- name: stop_expired
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET stop_requested_at = n.now, deadline_at = CASE WHEN j.deadline_at <= n.now THEN j.deadline_at ELSE n.now END
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.stop_requested_at IS NULL
RETURNING j.seq, j.id, j.lane, j.fence, n.now
