UPDATE hanbeon.token SET last_used_at = hanbeon.now()
WHERE id = $1
RETURNING id
