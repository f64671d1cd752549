-- Own text: rows are locked in one order, and the clock is read after the lock is had, so that an expired lease is
-- never taken for a live one because somebody made us wait.
WITH locked AS MATERIALIZED (
  SELECT j.seq, j.id, j.lane, j.fence, j.locked_by, j.locked_until, j.retry_count, j.policy, j.stop_requested_at,
    j.started_at, j.deadline_at
  FROM hanbeon.job AS j
  WHERE j.seq = ANY(ARRAY(SELECT (value->>'seq')::bigint FROM json_array_elements($1::json)))
    AND (j.state || '') = 'running'
  ORDER BY j.seq
  FOR NO KEY UPDATE
),
n AS MATERIALIZED (SELECT hanbeon.now() + 0 * count(*) AS now FROM locked)
SELECT l.*, n.now
FROM locked AS l
CROSS JOIN n
JOIN json_to_recordset($1::json) AS r(seq bigint, fence bigint) ON r.seq = l.seq AND r.fence = l.fence
WHERE l.locked_until > n.now
ORDER BY l.seq
