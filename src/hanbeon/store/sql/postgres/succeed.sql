-- The fast path for the common end of an attempt, one statement instead of three. Anything but a plain success (a stale
-- fence, an expired lease, a requested stop) is not found here and takes the general path, `lock_running`. Own text:
-- the rows come from an array of keys and their values from a JSON object: with a join, a planner that believes the
-- table small walks the whole index. A locked row is skipped, never waited for: `lock_running` waits, and reads the
-- clock afterwards, so that a lease that expired in the meantime is rejected.
WITH free AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.seq = ANY(ARRAY(SELECT json_array_elements_text($1::json)::bigint))
  ORDER BY k.seq
  FOR NO KEY UPDATE SKIP LOCKED
),
n AS MATERIALIZED (SELECT hanbeon.now() AS now),
done AS (
  UPDATE hanbeon.job AS j
  SET state = 'succeeded', result = $2::jsonb -> j.seq::text ->> 1, finished_at = n.now, failure_type = NULL,
    error_message = NULL, locked_until = NULL, attempt_status = 'completed'
  FROM n
  WHERE j.seq = ANY(ARRAY(SELECT f.seq FROM free AS f))
    AND j.fence = ($2::jsonb -> j.seq::text ->> 0)::bigint AND j.instance = $3 AND (j.state || '') = 'running'
    AND j.stop_requested_at IS NULL AND @held_until(j.locked_until) > n.now
  RETURNING j.seq, CAST(j.id AS text) AS id, j.lane, j.fence, j.started_at, n.now
)
-- Dependents are read in the next statement: this one's snapshot may be older than the locks that it waited for.
SELECT d.seq, d.id, d.lane, d.fence, d.started_at, d.now FROM done AS d
