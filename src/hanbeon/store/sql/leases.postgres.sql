-- name: renew
-- Own text: a locked row is skipped, not waited for; the next heartbeat renews it. Otherwise as for SQLite.
WITH free AS MATERIALIZED (
  SELECT j.seq FROM hanbeon.job AS j
  WHERE j.seq = ANY(ARRAY(SELECT (value->>'seq')::bigint FROM json_array_elements($1::json)))
  ORDER BY j.seq
  FOR NO KEY UPDATE SKIP LOCKED
),
n AS MATERIALIZED (SELECT hanbeon.now() AS now)
UPDATE hanbeon.job AS j
SET locked_until = CASE WHEN @held_until(j.locked_until) > n.now + $2 AND @held_until(j.locked_until) <= n.now + $2 + $3
  THEN j.locked_until ELSE n.now + $2 END
FROM json_to_recordset($1::json) AS r(seq bigint, fence bigint, instance bigint), n
WHERE j.seq = ANY(ARRAY(SELECT f.seq FROM free AS f)) AND j.seq = r.seq AND j.fence = r.fence
  AND j.instance = coalesce(r.instance, j.instance) AND (j.state || '') = 'running' AND @held_until(j.locked_until) > n.now
RETURNING j.seq
