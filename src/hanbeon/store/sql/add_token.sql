INSERT INTO hanbeon.token (hash, user_name, scope, request, created_at)
VALUES ($1, $2, $3, $4, hanbeon.now())
ON CONFLICT (request) DO NOTHING
RETURNING id, user_name, scope, created_at, last_used_at, revoked_at
