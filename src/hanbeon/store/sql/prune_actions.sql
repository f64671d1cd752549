DELETE FROM hanbeon.action WHERE seq IN (
  SELECT a.seq FROM hanbeon.action AS a WHERE a.at < hanbeon.now() - $1 ORDER BY a.at LIMIT $2
)
RETURNING seq
