-- name: claim_head
-- SQLite only: claims the jobs of `head_of_lane`, in the same transaction.
UPDATE hanbeon.job AS j
SET state = 'running', fence = j.fence + 1, instance = $2, locked_until = $3 + $4, started_at = $3,
  deadline_at = $3 + j.timeout_us, finished_at = NULL
WHERE j.seq IN (SELECT value FROM json_each($1))

-- name: head_of_lane
-- SQLite only, where each row that is read costs a hand-over of the interpreter lock: the jobs of a lane that `claim_lane`
-- would claim, as one value: for each its columns as they will be claimed, its rank, since when it has waited, and if a
-- text was left out because it is longer than $5.
SELECT hanbeon.now() AS now, (
  SELECT json_group_array(json_array(@head_columns, k.rank, max(k.run_at, k.created_at, coalesce(k.free_at, 0)),
    length(k.args) > $5 OR coalesce(length(k.progress), 0) > $5))
  FROM (
    SELECT h.* FROM hanbeon.job AS h
    WHERE h.state = 'ready' AND h.dispatched_at IS NULL AND h.lane = $1 AND (h.rank, h.seq) > ($3, $4)
      AND EXISTS (SELECT 1 FROM hanbeon.queue AS q WHERE q.id = ($1 >> 32) AND NOT q.paused AND NOT q.limited)
    ORDER BY h.rank, h.seq LIMIT $2
  ) AS k
) AS jobs
