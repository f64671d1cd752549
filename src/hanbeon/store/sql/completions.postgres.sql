-- name: lock_running
-- Own text: rows are locked in a fixed order, and the clock is read after the locks are acquired, so that a lease that
-- expired while waiting is never taken for a live one.
WITH locked AS MATERIALIZED (
  SELECT j.seq, j.id, j.lane, j.fence, j.instance, j.locked_until, j.retry_count, j.policy, j.stop_requested_at,
    j.started_at, j.deadline_at, j.failure_type
  FROM hanbeon.job AS j
  WHERE j.seq = ANY(ARRAY(SELECT json_array_elements_text($1::json)::bigint)) AND (j.state || '') = 'running'
  ORDER BY j.seq
  FOR NO KEY UPDATE
),
n AS MATERIALIZED (SELECT hanbeon.now() + 0 * count(*) AS now FROM locked)
SELECT l.*, n.now FROM locked AS l CROSS JOIN n WHERE l.locked_until > n.now ORDER BY l.seq
