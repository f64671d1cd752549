-- A page of one queue's jobs, found by the index of the jobs that surfaces created: no other queue's are read.
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
SELECT v.* FROM hanbeon.jobs AS v WHERE v.seq @among(page) ORDER BY v.seq
