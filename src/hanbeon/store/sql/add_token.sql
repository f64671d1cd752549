INSERT INTO hanbeon.token (hash, user_name, scope, created_at)
VALUES ($1, $2, $3, hanbeon.now())
RETURNING id, user_name, scope, created_at, last_used_at, revoked_at
