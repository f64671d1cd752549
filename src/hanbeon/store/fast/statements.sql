-- name: claim_lane
-- Where there is only one lane to choose from, its head is found and claimed in one statement. It starts after a
-- position, because the index may be full of entries of jobs claimed before, which cannot be vacuumed while an old
-- snapshot is open. The position is a remembered one: the queue may have been paused or limited since.
WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now),
head AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = $1 AND (k.rank, k.seq) > ($5, $6)
    AND EXISTS (SELECT 1 FROM hanbeon.queue AS q WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)
  ORDER BY k.rank, k.seq LIMIT $4
  @lock_skip
)
UPDATE hanbeon.job AS j SET @claimed_by($2; $3)
FROM n
WHERE j.seq @among(head) AND @hidden(j.state) = 'ready' AND j.dispatched_at IS NULL
RETURNING @claimed_columns
