-- The batch that starts at or before the requested number may reach beyond it; the reader drops events that it has
-- seen. One that does not is omitted here: after a gap left by pruning it would use up the limit of batches.
SELECT b.first_id, octet_length(b.body) AS bytes FROM hanbeon.event_batch AS b
WHERE b.first_id >= coalesce((SELECT max(p.first_id) FROM hanbeon.event_batch AS p WHERE p.first_id <= $1 + 1), 0)
  AND b.first_id + b.count > $1 + 1
ORDER BY b.first_id LIMIT $2
