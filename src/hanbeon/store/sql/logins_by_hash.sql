SELECT l.hash, l.user_name, l.scope, l.expires_at
FROM hanbeon.login AS l LEFT JOIN hanbeon.token AS t ON t.id = l.token
WHERE l.hash @in($1 text) AND l.expires_at > (SELECT hanbeon.now()) AND t.revoked_at IS NULL
