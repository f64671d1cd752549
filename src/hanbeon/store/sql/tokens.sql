SELECT t.id, t.hash, t.user_name, t.scope, t.created_at, t.last_used_at, t.revoked_at
FROM hanbeon.token AS t ORDER BY t.id
