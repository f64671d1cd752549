-- Unfolded batches are kept: otherwise the tallies would never include them.
DELETE FROM hanbeon.event_batch WHERE seq IN (
  SELECT b.seq FROM hanbeon.event_batch AS b
  WHERE @prunable_batch AND b.first_id <= (SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1)
  ORDER BY b.at LIMIT $2
)
RETURNING first_id, at, delta, CASE WHEN delta IS NULL THEN body END AS body
