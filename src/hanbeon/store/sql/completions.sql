-- name: complete
-- Ends running attempts. The rows are locked and checked by `lock_running` or `expired` in the same transaction.
UPDATE hanbeon.job AS j
SET state = r.state, run_at = coalesce(r.run_at, j.run_at), retry_count = r.retry_count, result = r.result,
  failure_type = r.failure_type, error_message = r.message, finished_at = r.finished_at, locked_until = NULL,
  attempt_status = r.status, free_at = coalesce(r.free_at, j.free_at),
  dispatched_at = CASE WHEN r.finished_at IS NOT NULL THEN j.dispatched_at END
FROM @rows($1 AS r; seq bigint, fence bigint, state text, run_at bigint, retry_count integer, result text,
  failure_type text, message text, finished_at bigint, status text, free_at bigint)
WHERE @few(r.seq) AND j.seq = r.seq AND j.fence = r.fence AND @hidden(j.state) = 'running'
RETURNING j.seq

-- name: ended_jobs
SELECT j.seq, j.id, j.lane, j.state, j.fence, j.started_at, j.finished_at, j.progress, j.result, j.failure_type,
  j.error_message
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) ORDER BY j.seq

-- name: expired
-- Hops from lane to lane among the running jobs: the cost grows with the lanes that have running jobs, not with the
-- jobs. PostgreSQL checks the lease again on the locked row: a renewal that came first wins.
WITH RECURSIVE hop(lane) AS (
  SELECT CAST(0 AS bigint)
  UNION ALL
  SELECT (SELECT min(k.lane) FROM hanbeon.job AS k WHERE k.state = 'running' AND k.lane > hop.lane)
  FROM hop WHERE hop.lane IS NOT NULL
)
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.idempotency_key, j.failure_type, j.dispatched_at, j.unbegun_fence, hanbeon.now() AS now
FROM hop CROSS JOIN hanbeon.job AS j
WHERE j.state = 'running' AND j.lane = hop.lane AND j.locked_until <= (SELECT hanbeon.now())
LIMIT $1
@lock_skip_job

-- name: held_by
-- The running jobs of an instance, whether or not their leases have expired. Reads all that run: after a lost answer only.
SELECT j.seq, j.fence, j.lane FROM hanbeon.job AS j WHERE j.state = 'running' AND j.instance = $1

-- name: insert_attempts
INSERT INTO hanbeon.past_attempt (job, attempt, status, instance, started_at, deadline_at, ended_at, failure_type, message)
SELECT r.job, r.attempt, r.status, r.instance, r.started_at, r.deadline_at, r.ended_at, r.failure_type, r.message
FROM @rows($1 AS r; job bigint, attempt bigint, status text, instance bigint, started_at bigint, deadline_at bigint,
  ended_at bigint, failure_type text, message text)

-- name: insert_exceptions
INSERT INTO hanbeon.attempt_exception (job, attempt, exception, traceback)
SELECT r.job, r.attempt, r.exception, r.traceback
FROM @rows($1 AS r; job bigint, attempt bigint, exception text, traceback text)

-- name: lock_held_by
-- Those of these jobs that the instance is said to run, locked. Others that are locked just now are left out.
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.failure_type, j.idempotency_key, hanbeon.now() AS now
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.instance = $2
ORDER BY j.seq
@lock_skip_job

-- name: lock_running
-- The running jobs with these numbers whose leases have not expired, locked. The fence tells whose they are.
SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.retry_count, j.policy, j.stop_requested_at, j.started_at,
  j.deadline_at, j.failure_type, n.now
FROM hanbeon.job AS j
CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'running' AND j.locked_until > n.now
ORDER BY j.seq

-- name: losses_in_a_row
-- Of the last attempts of these jobs: how many in a row ended without a failure of the work, where those handed back say
-- nothing; and how many in a row were lost before their body began ($2).
SELECT a.job,
  sum(CASE WHEN a.status <> 'released' THEN 1 ELSE 0 END) AS losses,
  sum(CASE WHEN a.message = $2 AND a.attempt > (
    SELECT coalesce(max(c.attempt), 0) FROM hanbeon.past_attempt AS c
    WHERE c.job = a.job AND coalesce(c.message, '') <> $2
  ) THEN 1 ELSE 0 END) AS unbegun
FROM hanbeon.past_attempt AS a
WHERE a.job @in($1 bigint) AND (a.failure_type IN ('lost', 'database_unavailable') OR a.message = $2) AND a.attempt > (
    SELECT coalesce(max(b.attempt), 0) FROM hanbeon.past_attempt AS b
    WHERE b.job = a.job AND b.status <> 'released' AND coalesce(b.failure_type, '') NOT IN ('lost', 'database_unavailable')
  )
GROUP BY a.job
