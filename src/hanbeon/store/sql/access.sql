-- name: actions
SELECT a.seq, a.at, a.user_name, a.via, a.action, a.target, a.count FROM hanbeon.action AS a
WHERE a.seq < $1 AND (CAST($2 AS text) IS NULL OR a.user_name = $2)
ORDER BY a.seq DESC LIMIT $3

-- name: add_action
-- One row for each request, however many transactions it takes: a later one adds to its count.
INSERT INTO hanbeon.action AS a (id, at, user_name, via, action, target, count)
VALUES ($1, hanbeon.now(), $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET count = a.count + excluded.count

-- name: add_login
INSERT INTO hanbeon.login (hash, user_name, scope, token, expires_at)
SELECT $1, $2, $3, $4, min(x.at) FROM (SELECT hanbeon.now() + $5 AS at UNION ALL SELECT $6) AS x
RETURNING user_name, scope, expires_at

-- name: add_token
INSERT INTO hanbeon.token (hash, user_name, scope, request, created_at)
VALUES ($1, $2, $3, $4, hanbeon.now())
ON CONFLICT (request) DO NOTHING
RETURNING id, user_name, scope, created_at, last_used_at, revoked_at

-- name: drop_login
DELETE FROM hanbeon.login WHERE hash = $1 RETURNING hash

-- name: drop_old_logins
DELETE FROM hanbeon.login
WHERE hash IN (
  SELECT l.hash FROM hanbeon.login AS l WHERE l.user_name = $1
  ORDER BY l.expires_at DESC LIMIT $3 OFFSET $2
)
RETURNING hash

-- name: logins_by_hash
SELECT l.hash, l.user_name, l.scope, l.expires_at
FROM hanbeon.login AS l LEFT JOIN hanbeon.token AS t ON t.id = l.token
WHERE l.hash @in($1 text) AND l.expires_at > (SELECT hanbeon.now()) AND t.revoked_at IS NULL

-- name: prune_actions
DELETE FROM hanbeon.action WHERE seq IN (
  SELECT a.seq FROM hanbeon.action AS a WHERE a.at < hanbeon.now() - $1 ORDER BY a.at LIMIT $2
)
RETURNING seq

-- name: prune_logins
DELETE FROM hanbeon.login
WHERE hash IN (
  SELECT l.hash FROM hanbeon.login AS l
  WHERE l.expires_at < (SELECT hanbeon.now()) - $1 ORDER BY l.expires_at LIMIT $2
)
RETURNING hash

-- name: revoke_token
UPDATE hanbeon.token SET revoked_at = coalesce(revoked_at, hanbeon.now())
WHERE id = $1
RETURNING id, user_name, scope, created_at, last_used_at, revoked_at

-- name: token_of_request
SELECT t.id FROM hanbeon.token AS t WHERE t.request = $1

-- name: tokens
SELECT t.id, t.hash, t.user_name, t.scope, t.created_at, t.last_used_at, t.revoked_at
FROM hanbeon.token AS t ORDER BY t.id

-- name: touch_token
UPDATE hanbeon.token SET last_used_at = hanbeon.now()
WHERE id = $1
RETURNING id
