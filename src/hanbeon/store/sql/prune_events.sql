DELETE FROM hanbeon.event_batch WHERE seq IN (
  SELECT b.seq FROM hanbeon.event_batch AS b
  WHERE @prunable_batch
  ORDER BY b.at LIMIT $2
)
RETURNING seq
