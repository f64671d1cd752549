SELECT l.user_name, l.scope, l.expires_at
FROM hanbeon.login AS l LEFT JOIN hanbeon.token AS t ON t.id = l.token
WHERE l.hash = $1 AND l.expires_at > (SELECT hanbeon.now()) AND t.revoked_at IS NULL
