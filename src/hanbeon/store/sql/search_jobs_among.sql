-- Like `search_jobs`, of the jobs with these numbers.
SELECT v.seq, @record_bytes AS bytes FROM hanbeon.jobs AS v
WHERE v.seq @in($1 bigint)
  AND (CAST($2 AS text) IS NULL OR v.state @in($2 text))
  AND (CAST($3 AS text) IS NULL OR v.queue = $3)
  AND (CAST($4 AS text) IS NULL OR v.task = $4)
  AND (CAST($5 AS text) IS NULL OR v.role = $5)
  AND (CAST($6 AS text) IS NULL OR v.concurrency_key = $6 OR v.unique_key = $6 OR v.idempotency_key = $6)
  AND (CAST($7 AS text) IS NULL OR v.failure_type = $7)
  AND (CAST($8 AS bigint) IS NULL OR v.created_at >= $8)
  AND (CAST($9 AS bigint) IS NULL OR v.created_at < $9)
  AND (CAST($10 AS text) IS NULL OR NOT @built_in AND @contains(v.args; $10))
  AND (CAST($11 AS @uuid) IS NULL OR v.id >= $11)
  AND (CAST($12 AS @uuid) IS NULL OR v.id <= $12)
ORDER BY v.seq DESC LIMIT $13
