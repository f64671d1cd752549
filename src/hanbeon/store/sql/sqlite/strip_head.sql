-- SQLite only, where each row that is read costs a hand-over of the interpreter lock: the jobs of a lane that `claim_lane`
-- would claim, as one value. A text longer than $5 is left out.
SELECT hanbeon.now() AS now, (
  SELECT json_group_array(json_array(k.seq, k.id, k.fence + 1, k.rank, CASE WHEN length(k.args) <= $5 THEN k.args END,
    CASE WHEN length(k.progress) <= $5 THEN k.progress END, k.retry_count, k.timeout_us, k.policy, k.idempotency_key,
    k.run_at, max(k.run_at, k.created_at, coalesce(k.free_at, 0)),
    length(k.args) > $5 OR coalesce(length(k.progress), 0) > $5))
  FROM (
    SELECT h.* FROM hanbeon.job AS h
    WHERE h.state = 'ready' AND h.dispatched_at IS NULL AND h.lane = $1 AND (h.rank, h.seq) > ($3, $4)
      AND EXISTS (SELECT 1 FROM hanbeon.queue AS q WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)
    ORDER BY h.rank, h.seq LIMIT $2
  ) AS k
) AS jobs
