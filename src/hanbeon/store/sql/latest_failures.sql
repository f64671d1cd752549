-- The latest failed jobs that ended at $1 or later; the number of those looked at is bounded by $2.
SELECT f.seq, f.id, l.task, f.failure_type, f.message, f.finished_at
FROM (
  SELECT j.seq, j.id, j.lane, j.failure_type, substr(j.error_message, 1, 1000) AS message, j.finished_at
  FROM hanbeon.job AS j WHERE j.state = 'failed' AND j.state IN ('failed', 'cancelled') ORDER BY j.seq DESC LIMIT $2
) AS f
JOIN hanbeon.lane AS l ON l.n = (f.lane & 4294967295)
WHERE f.finished_at >= $1
