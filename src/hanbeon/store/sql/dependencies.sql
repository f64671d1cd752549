-- name: depended_on
-- Those of these jobs on which an unfinished one depends. Dependents are looked up one by one: with a join, a planner
-- that thinks the table small would read all of it.
SELECT DISTINCT e.dependency AS seq FROM hanbeon.edge AS e
WHERE e.dependency @in($1 bigint)
  AND (SELECT d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) IN (@unfinished_states)

-- name: drop_unmet
DELETE FROM hanbeon.unmet WHERE job @in($1 bigint)

-- name: due
SELECT j.seq FROM hanbeon.job AS j
WHERE j.state = 'pending' AND NOT j.blocked AND j.run_at <= (SELECT hanbeon.now())
ORDER BY j.run_at LIMIT $1 @lock_skip

-- name: edges_to
SELECT e.dependency, e.dependent FROM hanbeon.edge AS e WHERE e.dependent @in($1 bigint)

-- name: fail_dependents
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET state = 'failed', finished_at = n.now, failure_type = 'dependency_failed', error_message = $2
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending'
RETURNING j.seq, j.id, j.lane, n.now

-- name: failing_dependents
-- The dependents whose policy is to fail with the given jobs, transitively. Looked up one by one: with a join, a
-- planner that thinks few are pending would read all of them.
WITH RECURSIVE behind(seq) AS (
  SELECT e.dependent FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint)
    AND (SELECT d.on_dependency_failure || d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) = 'failpending'
  UNION
  SELECT e.dependent FROM behind AS b JOIN hanbeon.edge AS e ON e.dependency = b.seq
)
SELECT j.seq FROM hanbeon.job AS j WHERE j.seq IN (SELECT seq FROM behind) ORDER BY j.seq @lock

-- name: insert_unmet
INSERT INTO hanbeon.unmet (job, dependencies)
SELECT r.job, r.dependencies FROM @rows($1 AS r; job bigint, dependencies integer) WHERE r.dependencies > 0

-- name: next_due
-- A job that must be recounted is due immediately. Besides, when the next one expires.
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM hanbeon.job AS r WHERE r.recount) THEN 0
  ELSE (SELECT min(j.run_at) FROM hanbeon.job AS j WHERE j.state = 'pending' AND NOT j.blocked) - hanbeon.now()
END AS wait_us, (SELECT min(x.at) FROM hanbeon.expiry AS x WHERE x.open) - hanbeon.now() AS expires_us

-- name: promote_these
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j SET state = 'ready'
FROM n
WHERE j.seq @in($1 bigint) AND @hidden(j.state) = 'pending' AND NOT j.blocked AND j.run_at <= n.now
RETURNING j.seq, j.id, j.lane, n.now

-- name: set_blocked
UPDATE hanbeon.job AS j SET blocked = r.dependencies > 0, recount = r.recount
FROM @rows($1 AS r; job bigint, dependencies integer, recount boolean)
WHERE @few(r.job) AND j.seq = r.job

-- name: share_jobs
-- Share-locked: none of these can finish or be pruned before our commit.
SELECT j.seq, j.state FROM hanbeon.job AS j WHERE j.seq @in($1 bigint) ORDER BY j.seq @share

-- name: to_recount
SELECT j.seq FROM hanbeon.job AS j WHERE j.recount ORDER BY j.seq LIMIT $1
