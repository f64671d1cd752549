-- By row comparison of (state, seq): with a plain equality the planner may walk all jobs in their order.
SELECT j.seq, @job_bytes AS bytes FROM hanbeon.job AS j
WHERE @an_execution AND (j.state, j.seq) >= ($3, 0) AND (j.state, j.seq) < ($3, $1)
  AND (
    SELECT 1 FROM hanbeon.execution AS e
    WHERE e.job = j.seq
      AND (CAST($4 AS text) IS NULL OR e.type = $4)
      AND (CAST($5 AS bigint) IS NULL OR e.task_id = $5)
      AND (CAST($6 AS @uuid) IS NULL OR e.schedule_id = $6)
  ) IS NOT NULL
ORDER BY j.state DESC, j.seq DESC LIMIT $2
