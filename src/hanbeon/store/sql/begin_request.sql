-- Taken over if it has expired, or if the server that began it must be dead.
INSERT INTO hanbeon.answer AS a (user_name, key, digest, seed, created_at)
VALUES ($1, $2, $3, $4, hanbeon.now())
ON CONFLICT (user_name, key) DO UPDATE SET
  digest = excluded.digest, created_at = excluded.created_at, status = NULL, headers = NULL, body = NULL,
  seed = CASE WHEN a.created_at < excluded.created_at - $5 THEN excluded.seed ELSE a.seed END
WHERE a.created_at < excluded.created_at - $5
  OR (a.status IS NULL AND a.digest = excluded.digest AND a.created_at < excluded.created_at - $6)
RETURNING seed
