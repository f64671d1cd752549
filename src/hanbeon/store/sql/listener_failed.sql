WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.listener AS j
SET failures = j.failures + 1, failing_since = coalesce(j.failing_since, n.now), last_error = $2, last_failure_at = n.now
FROM n
WHERE j.id = $1
RETURNING j.kind, j.failures, j.failing_since, j.last_success_at, j.disabled_at, n.now
