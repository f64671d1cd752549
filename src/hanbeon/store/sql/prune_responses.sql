DELETE FROM hanbeon.answer
WHERE (user_name, key) IN (
  SELECT a.user_name, a.key FROM hanbeon.answer AS a
  WHERE a.created_at < (SELECT hanbeon.now()) - $1 ORDER BY a.created_at LIMIT $2
)
RETURNING key
