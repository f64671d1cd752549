DELETE FROM hanbeon.event_batch WHERE seq IN (
  SELECT b.seq FROM hanbeon.event_batch AS b
  WHERE b.at < (SELECT hanbeon.now()) - $1 AND b.first_id IS NOT NULL
  ORDER BY b.at LIMIT $2
)
RETURNING seq
