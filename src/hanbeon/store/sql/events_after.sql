-- The batch that starts at or before the wanted number may reach beyond it; the reader drops what it has seen. One that
-- does not is left out here, or behind a gap that pruning made it would count for all of the batches asked for.
SELECT b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id >= coalesce((SELECT max(p.first_id) FROM hanbeon.event_batch AS p WHERE p.first_id <= $1 + 1), 0)
  AND b.first_id + b.count > $1 + 1
ORDER BY b.first_id LIMIT $2
