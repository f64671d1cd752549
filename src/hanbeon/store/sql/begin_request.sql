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
