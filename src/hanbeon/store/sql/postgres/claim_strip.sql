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
