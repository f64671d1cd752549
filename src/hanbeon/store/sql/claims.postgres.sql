-- name: claim_batch
-- PostgreSQL only, where each statement is a round trip: `claim_lane` with its event, in one statement that is a
-- transaction by itself. The text of the event is $7, which ends where the list of its jobs begins. If the lane has no
-- jobs to give, or the database was restored, nothing is claimed, and the general path finds out why.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
head AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = $1 AND (k.rank, k.seq) > ($5, $6)
    AND EXISTS (SELECT 1 FROM hanbeon.queue AS q WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)
    AND EXISTS (SELECT 1 FROM hanbeon.incarnation AS i WHERE i.id = $8)
  ORDER BY k.rank, k.seq LIMIT $4
  FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
  UPDATE hanbeon.job AS j SET @claimed_by($2; $3)
  FROM n
  WHERE j.seq = ANY(ARRAY(SELECT h.seq FROM head AS h)) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
  RETURNING @claimed_columns
),
emitted AS (
  INSERT INTO hanbeon.event_batch (at, count, body)
  SELECT n.now, t.count, $7::text || t.jobs || ']}]}'
  FROM n CROSS JOIN (
    SELECT count(*) AS count, string_agg(
      '["' || a.id || '",' || a.fence || ',' || greatest(a.run_at, a.created_at, a.free_at) || ']', ','
      ORDER BY a.rank, a.seq) AS jobs
    FROM taken AS a
  ) AS t
  WHERE t.count > 0
)
SELECT * FROM taken AS a ORDER BY a.rank, a.seq

-- name: lane_heads
-- Own text: a lateral join keeps the planner on the ready index, and jobs that another instance is claiming are
-- skipped.
SELECT j.seq, j.lane, j.rank
FROM json_array_elements_text($1::json) AS head(lane)
CROSS JOIN LATERAL (
  SELECT k.seq, k.lane, k.rank FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = head.lane::bigint
  ORDER BY k.rank, k.seq LIMIT $2
  FOR NO KEY UPDATE SKIP LOCKED
) AS j
ORDER BY j.lane, j.rank, j.seq

-- name: running_counts
-- Own text: the planner would join by range only after reading all running jobs; range by range it uses the index.
SELECT j.lane, l.role, l.concurrency_key, j.running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN LATERAL (
  SELECT k.lane, count(*) AS running FROM hanbeon.job AS k
  WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high
  GROUP BY k.lane
) AS j
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)

-- name: slots_taken
-- Like `running_counts`, with jobs that wait for a stream worker. Each range is looked up by itself: see there.
SELECT u.lane, l.role, l.concurrency_key, count(*) AS running
FROM @rows($1 AS r; low bigint, high bigint)
CROSS JOIN LATERAL (
  (SELECT k.lane FROM hanbeon.job AS k WHERE k.state = 'running' AND k.lane >= r.low AND k.lane < r.high OFFSET 0)
  UNION ALL
  (SELECT k.lane FROM hanbeon.job AS k
   WHERE k.state = 'ready' AND k.dispatched_at IS NOT NULL AND k.lane >= r.low AND k.lane < r.high OFFSET 0)
) AS u
JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
GROUP BY u.lane, l.role, l.concurrency_key
