-- Queues that were orphaned that long ago and have no jobs left, according to the folded tallies and the indexes.
-- Looked up one by one: joins would read all jobs whenever the planner thinks that there are few. (`+ 0`: SQLite would
-- convert the expression to the column's type for the comparison, and not use its index.) Locked rows are skipped.
SELECT q.id FROM hanbeon.queue AS q
WHERE @long_left
  AND (SELECT 1 FROM hanbeon.tally AS t WHERE t.queue_id = q.id AND t.jobs <> 0 LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE (j.lane >> 32) = q.id + 0 AND j.meta IS NOT NULL LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
  AND (SELECT 1 FROM hanbeon.job AS j WHERE j.state = 'running' AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
    LIMIT 1) IS NULL
ORDER BY q.left_at LIMIT $2
@lock_to_delete
