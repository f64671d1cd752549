-- name: begin_request
-- Taken over if it has expired, if the server that ran it gave up or must be dead, or if that server is the caller.
INSERT INTO hanbeon.answer AS a (user_name, key, digest, seed, created_at, holder, held_at)
VALUES ($1, $2, $3, $4, hanbeon.now(), $5, hanbeon.now())
ON CONFLICT (user_name, key) DO UPDATE SET
  digest = excluded.digest, status = NULL, headers = NULL, body = NULL,
  holder = excluded.holder, held_at = excluded.held_at,
  seed = CASE WHEN a.created_at < excluded.created_at - $6 THEN excluded.seed ELSE a.seed END,
  created_at = CASE WHEN a.created_at < excluded.created_at - $6 THEN excluded.created_at ELSE a.created_at END
WHERE a.created_at < excluded.created_at - $6
  OR (a.status IS NULL AND a.digest = excluded.digest
    AND (a.holder IS NULL OR a.holder = $8 OR a.held_at < excluded.held_at - $7))
RETURNING seed

-- name: forget_request
-- Not if its seed is of an earlier try, which may have had its effect.
DELETE FROM hanbeon.answer
WHERE user_name = $1 AND key = $2 AND digest = $3 AND seed = $4 AND holder = $5 AND status IS NULL
RETURNING key

-- name: prune_responses
DELETE FROM hanbeon.answer
WHERE (user_name, key) IN (
  SELECT a.user_name, a.key FROM hanbeon.answer AS a
  WHERE a.created_at < (SELECT hanbeon.now()) - $1 ORDER BY a.created_at LIMIT $2
)
RETURNING key

-- name: release_request
UPDATE hanbeon.answer SET holder = NULL
WHERE user_name = $1 AND key = $2 AND digest = $3 AND holder = $4 AND status IS NULL

-- name: store_response
-- Only the first: a request that was taken over may be answered twice.
UPDATE hanbeon.answer SET status = $4, headers = $5, body = $6
WHERE user_name = $1 AND key = $2 AND digest = $3 AND status IS NULL
RETURNING key

-- name: stored_response
SELECT a.digest, a.status, a.headers, a.body FROM hanbeon.answer AS a WHERE a.user_name = $1 AND a.key = $2
