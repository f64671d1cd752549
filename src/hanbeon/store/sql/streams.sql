-- name: add_dispatches
INSERT INTO hanbeon.dispatch (job, fence, stream, wire_id, body, at)
SELECT r.job, r.fence, r.stream, r.wire_id, r.body, hanbeon.now()
FROM @rows($1 AS r; job bigint, fence bigint, stream text, wire_id text, body text)

-- name: claim_dispatched
-- The first that is heard of an attempt is its claim; its fence was given at the dispatch.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'running', instance = $2, started_at = n.now, deadline_at = n.now + j.timeout_us,
  locked_until = n.now + CASE WHEN j.timeout_us < r.lease_us THEN j.timeout_us ELSE r.lease_us END
FROM @rows($1 AS r; seq bigint, fence bigint, lease_us bigint) CROSS JOIN n
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NOT NULL
RETURNING j.seq, j.started_at, j.deadline_at

-- name: close_dispatches
-- Those of which an attempt is over, or asked to stop.
UPDATE hanbeon.dispatch AS d SET close_at = hanbeon.now(), stop = $2
WHERE d.job @in($1 bigint) AND d.close_at IS NULL

-- name: closing_dispatches
SELECT d.n, d.job, d.fence, d.stream, d.wire_id, d.stop, n.now, j.stop_requested_at,
  (j.state = 'running' AND j.fence = d.fence AND j.dispatched_at IS NOT NULL) AS running,
  (j.seq IS NOT NULL AND j.fence = d.fence) AS latest
FROM (SELECT hanbeon.now() AS now) AS n
JOIN hanbeon.dispatch AS d ON d.close_at <= n.now
LEFT JOIN hanbeon.job AS j ON j.seq = d.job
ORDER BY d.close_at LIMIT $1

-- name: dispatch
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET fence = j.fence + 1, dispatched_at = n.now
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
RETURNING @claimed_columns, n.now

-- name: dispatched_counts
-- How many requests of each stream wait for a worker.
SELECT d.stream, count(*) AS waiting
FROM hanbeon.job AS j JOIN hanbeon.dispatch AS d ON d.job = j.seq AND d.fence = j.fence
WHERE j.state = 'ready' AND j.dispatched_at IS NOT NULL
GROUP BY d.stream

-- name: drop_dispatches
DELETE FROM hanbeon.dispatch WHERE n @in($1 bigint)

-- name: fail_stream
INSERT INTO hanbeon.stream AS s (name, workers, deadletters, seen_at, failing_since, error)
VALUES ($1, 0, 0, 0, hanbeon.now(), $2)
ON CONFLICT (name) DO UPDATE SET failing_since = coalesce(s.failing_since, excluded.failing_since),
  error = excluded.error

-- name: lock_streamed
SELECT j.seq, CAST(j.id AS text) AS id, j.lane, j.state, j.fence, j.instance, j.retry_count, j.policy,
  j.stop_requested_at, j.started_at, j.deadline_at, j.failure_type, j.progress, j.dispatched_at, j.timeout_us, j.run_at,
  j.created_at, j.free_at, hanbeon.now() AS now
FROM hanbeon.job AS j WHERE @id_in(j; $1) ORDER BY j.seq @lock

-- name: mark_sent
UPDATE hanbeon.dispatch SET epoch = $2 WHERE n @in($1 bigint)

-- name: mark_streamed
UPDATE hanbeon.queue SET streamed = true WHERE id @in($1 bigint) AND NOT streamed

-- name: put_off_dispatches
UPDATE hanbeon.dispatch AS d SET close_at = r.at
FROM @rows($1 AS r; n bigint, at bigint)
WHERE d.n = r.n

-- name: send_again
UPDATE hanbeon.dispatch SET epoch = NULL
WHERE epoch IS NOT NULL AND epoch <> $1 AND close_at IS NULL

-- name: stopping_streamed
-- Running attempts, locked, whose workers were asked to stop and have not answered.
SELECT j.seq, CAST(j.id AS text) AS id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at,
  j.started_at, j.deadline_at, j.failure_type, hanbeon.now() AS now
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.dispatched_at IS NOT NULL
  AND j.stop_requested_at IS NOT NULL
ORDER BY j.seq @lock

-- name: stream_of_job
SELECT d.stream, (d.epoch IS NOT NULL) AS sent, s.workers, s.failing_since, s.error, hanbeon.now() AS now
FROM hanbeon.dispatch AS d LEFT JOIN hanbeon.stream AS s ON s.name = d.stream
WHERE d.job = $1 ORDER BY d.fence DESC LIMIT 1

-- name: stream_progress
-- A worker's progress renews its lease, but not beyond the deadline.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET progress = r.progress,
  locked_until = CASE WHEN j.deadline_at < n.now + r.lease_us THEN j.deadline_at ELSE n.now + r.lease_us END
FROM @rows($1 AS r; seq bigint, fence bigint, progress text, lease_us bigint) CROSS JOIN n
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'running'
RETURNING j.seq, j.id, j.lane

-- name: streams
SELECT s.name, s.workers, s.deadletters, s.seen_at, s.failing_since, s.error FROM hanbeon.stream AS s ORDER BY s.name

-- name: unsent_dispatches
SELECT d.n, d.stream, d.wire_id, d.fence, d.body FROM hanbeon.dispatch AS d
WHERE d.epoch IS NULL AND d.close_at IS NULL
ORDER BY d.n LIMIT $1

-- name: write_stream
INSERT INTO hanbeon.stream (name, workers, deadletters, seen_at) VALUES ($1, $2, $3, hanbeon.now())
ON CONFLICT (name) DO UPDATE SET workers = excluded.workers, deadletters = excluded.deadletters,
  seen_at = excluded.seen_at, failing_since = NULL, error = NULL
