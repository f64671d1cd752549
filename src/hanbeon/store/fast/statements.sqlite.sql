-- name: changed_rows
-- SQLite only: how many rows the statement before has changed.
SELECT changes() AS count

-- name: claim_head
-- SQLite only: claims the jobs of `head_of_lane`, in the same transaction.
UPDATE hanbeon.job AS j
SET state = 'running', fence = j.fence + 1, instance = $2, locked_until = $3 + $4, started_at = $3,
  deadline_at = $3 + j.timeout_us, finished_at = NULL
WHERE j.seq IN (SELECT value FROM json_each($1))

-- name: enqueue_one
-- Own text: within a transaction that has checked the incarnation, and without the event, which the transaction writes.
-- The fast path for the most common enqueue, a single job that waits for nothing: its columns are parameters, not JSON.
-- If an id or a key is taken, nothing is created, and the general path reports why.
INSERT INTO hanbeon.job (state, rank, run_at, created_at, @new_columns)
SELECT 'ready', @rank($urgent; $priority), n.now, n.now, @new_parameters
FROM (SELECT hanbeon.now() AS now) AS n WHERE true
ON CONFLICT DO NOTHING
RETURNING seq, created_at

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

-- name: insert_event_groups
-- SQLite only: `insert_events` for event groups, which happened at the instant $1 and have no delta.
INSERT INTO hanbeon.event_batch (at, count, first_id, body)
SELECT $1, $2, c.last_id + 1, $3 FROM hanbeon.event_counter AS c WHERE c.only_row = 1

-- name: succeed
-- Own text: there is one writer at a time, so nothing is locked; and each pair of the object is visited once, because
-- SQLite finds a key in it only by a scan.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = n.now, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($2) AS r CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE j.seq = CAST(r.key AS integer) AND j.fence = r.value ->> 0 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > n.now
RETURNING j.seq, j.id, j.lane, j.fence, j.started_at, n.now

-- name: succeed_batch
-- SQLite only: the plain successes of attempts with the same fence and the same result $5. The caller counts the
-- changed rows, and rolls back if some are missing: then the general path handles them.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = $5, finished_at = $4, failure_type = NULL, error_message = NULL, locked_until = NULL,
  attempt_status = 'completed'
WHERE j.seq IN (SELECT value FROM json_each($1)) AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4

-- name: succeed_each
-- SQLite only: `succeed_batch` for results that differ, which are beside the jobs in $1.
UPDATE hanbeon.job AS j
SET state = 'succeeded', result = r.value ->> 1, finished_at = $4, failure_type = NULL, error_message = NULL,
  locked_until = NULL, attempt_status = 'completed'
FROM json_each($1) AS r
WHERE j.seq = r.value ->> 0 AND j.fence = $2 AND j.instance = $3 AND j.state = 'running'
  AND j.stop_requested_at IS NULL AND j.locked_until > $4
