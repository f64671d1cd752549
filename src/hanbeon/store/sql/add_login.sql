INSERT INTO hanbeon.login (hash, user_name, scope, token, expires_at)
SELECT $1, $2, $3, $4, min(x.at) FROM (SELECT hanbeon.now() + $5 AS at UNION ALL SELECT $6) AS x
RETURNING user_name, scope, expires_at
