DELETE FROM hanbeon.login
WHERE hash IN (
  SELECT l.hash FROM hanbeon.login AS l
  WHERE l.expires_at < (SELECT hanbeon.now()) - $1 ORDER BY l.expires_at LIMIT $2
)
RETURNING hash
