-- Jobs after $1 and before $2, newest first. The caller bounds how many that may be, and so how many are looked at.
SELECT v.seq, @record_bytes AS bytes FROM hanbeon.jobs AS v
WHERE v.seq > $1 AND v.seq < $2
  AND (CAST($3 AS text) IS NULL OR v.state @in($3 text))
  AND (CAST($4 AS text) IS NULL OR v.queue = $4)
  AND (CAST($5 AS text) IS NULL OR v.task = $5)
  AND (CAST($6 AS text) IS NULL OR v.role = $6)
  AND (CAST($7 AS text) IS NULL OR v.concurrency_key = $7 OR v.unique_key = $7 OR v.idempotency_key = $7)
  AND (CAST($8 AS text) IS NULL OR v.failure_type = $8)
  AND (CAST($9 AS bigint) IS NULL OR v.created_at >= $9)
  AND (CAST($10 AS bigint) IS NULL OR v.created_at < $10)
  AND (CAST($11 AS text) IS NULL OR NOT @built_in AND @contains(v.args; $11))
  AND (CAST($12 AS @uuid) IS NULL OR v.id >= $12)
  AND (CAST($13 AS @uuid) IS NULL OR v.id <= $13)
ORDER BY v.seq DESC LIMIT $14
