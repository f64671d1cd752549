-- Like `queue_page`, for unfinished jobs: one branch per state, so that each uses its partial index, and finished jobs
-- of the queue cost nothing.
WITH page AS MATERIALIZED (
  SELECT u.seq FROM (
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'pending' AND 'pending' @in($4 text) AND j.lane >= $1 AND j.lane < $2
    UNION ALL
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'ready' AND 'ready' @in($4 text) AND j.lane >= $1 AND j.lane < $2
    UNION ALL
    SELECT j.seq, j.lane, j.work_item, j.meta FROM hanbeon.job AS j
    WHERE j.state = 'running' AND 'running' @in($4 text) AND j.lane >= $1 AND j.lane < $2
      AND (CAST($5 AS boolean) IS NULL OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $5)
  ) AS u
  JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
  WHERE u.seq > $3 AND u.meta IS NOT NULL
    AND (CAST($6 AS text) IS NULL OR l.role = $6)
    AND (CAST($7 AS text) IS NULL OR u.work_item = $7)
  ORDER BY u.seq LIMIT $8
)
SELECT j.seq, @job_bytes + octet_length(j.args) AS all_bytes, @job_bytes AS listed_bytes, @node_bytes AS node_bytes
FROM hanbeon.job AS j
WHERE j.seq @among(page) ORDER BY j.seq
