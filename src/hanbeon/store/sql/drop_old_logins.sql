DELETE FROM hanbeon.login
WHERE hash IN (
  SELECT l.hash FROM hanbeon.login AS l WHERE l.user_name = $1
  ORDER BY l.expires_at DESC LIMIT $3 OFFSET $2
)
RETURNING hash
