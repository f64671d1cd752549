-- name: count_prunable
-- The rows that the prune_ statements would find once all is folded, if repeated until nothing is left.
SELECT
  (SELECT coalesce(sum(b.count), 0) FROM hanbeon.event_batch AS b WHERE @prunable_batch) AS events,
  (SELECT count(*) FROM hanbeon.instance AS i WHERE @prunable_instance) AS instances

-- name: count_prunable_jobs
-- The jobs that prunable_jobs would find if it were repeated until nothing is left, by queue.
SELECT (j.lane >> 32) AS queue_id, count(*) AS jobs FROM hanbeon.job AS j WHERE @prunable_job GROUP BY (j.lane >> 32)

-- name: lock_clock
-- Returns nothing while another transaction prunes: it is looking at the clock, too.
SELECT c.trusted_at, c.steady_since, c.seen_at, hanbeon.now() AS now FROM hanbeon.clock AS c WHERE c.only_row = 1
@lock_skip

-- name: log_sizes
SELECT l.job, count(*) AS chunks FROM hanbeon.log AS l WHERE l.job @in($1 bigint) GROUP BY l.job

-- name: note_pruned
UPDATE hanbeon.pruned SET before = hanbeon.now() - $1 WHERE before < hanbeon.now() - $1

-- name: prunable_jobs
SELECT j.seq FROM hanbeon.job AS j
WHERE @prunable_job
ORDER BY j.finished_at LIMIT $2 @lock_to_delete

-- name: prune_attempts
DELETE FROM hanbeon.past_attempt WHERE job @in($1 bigint)

-- name: prune_edges
DELETE FROM hanbeon.edge WHERE dependency @in($1 bigint) OR dependent @in($1 bigint)

-- name: prune_events
-- Unfolded batches are kept: otherwise the tallies would never include them.
DELETE FROM hanbeon.event_batch WHERE seq IN (
  SELECT b.seq FROM hanbeon.event_batch AS b
  WHERE @prunable_batch AND b.first_id <= (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
  ORDER BY b.at LIMIT $2
)
RETURNING first_id, at, delta, CASE WHEN delta IS NULL THEN body END AS body

-- name: prune_exceptions
DELETE FROM hanbeon.attempt_exception WHERE job @in($1 bigint)

-- name: prune_hand_moves
DELETE FROM hanbeon.hand_move WHERE job @in($1 bigint)

-- name: prune_instances
DELETE FROM hanbeon.instance AS i WHERE @prunable_instance RETURNING id

-- name: prune_jobs
DELETE FROM hanbeon.job WHERE seq @in($1 bigint) AND finished_at IS NOT NULL
RETURNING seq, lane, state, started_at, finished_at, hanbeon.now() AS now

-- name: prune_logs
DELETE FROM hanbeon.log WHERE job @in($1 bigint)

-- name: prune_queue_batches
DELETE FROM hanbeon.queue_batch
WHERE (queue_id, first_id) IN (
  SELECT q.id, r.first_id
  FROM @rows($1 AS r; queue text, first_id bigint)
  JOIN hanbeon.queue AS q ON q.name = r.queue
)

-- name: prune_timings
-- The oldest of those past their retention, an hour's worth at a time.
DELETE FROM hanbeon.timing
WHERE slot < (SELECT hanbeon.now()) - $1
  AND slot < (SELECT min(t.slot) FROM hanbeon.timing AS t WHERE t.slot < (SELECT hanbeon.now()) - $1) + $2
RETURNING slot

-- name: prune_traces
DELETE FROM hanbeon.trace WHERE job @in($1 bigint)

-- name: set_clock
UPDATE hanbeon.clock SET trusted_at = $1, steady_since = $2, seen_at = $3 WHERE only_row = 1
