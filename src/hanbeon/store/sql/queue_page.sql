-- A page of one queue's jobs and their sizes, found by the index of the jobs that surfaces created: no other queue's are read.
WITH page AS MATERIALIZED (
  SELECT j.seq FROM hanbeon.job AS j
  JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
  WHERE (j.lane >> 32) = $1 AND j.meta IS NOT NULL AND j.seq > $2
    AND (CAST($3 AS text) IS NULL OR @hidden(j.state) @in($3 text))
    AND (CAST($4 AS boolean) IS NULL OR @hidden(j.state) <> 'running'
      OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $4)
    AND (CAST($5 AS text) IS NULL OR l.role = $5)
    AND (CAST($6 AS text) IS NULL OR j.work_item = $6)
  ORDER BY j.seq LIMIT $7
)
SELECT j.seq, @job_bytes + octet_length(j.args) AS all_bytes, @job_bytes AS listed_bytes, @node_bytes AS node_bytes
FROM hanbeon.job AS j
WHERE j.seq @among(page) ORDER BY j.seq
