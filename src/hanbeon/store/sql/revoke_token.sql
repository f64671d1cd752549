UPDATE hanbeon.token SET revoked_at = coalesce(revoked_at, hanbeon.now())
WHERE id = $1
RETURNING id, user_name, scope, created_at, last_used_at, revoked_at
