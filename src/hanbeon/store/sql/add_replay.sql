INSERT INTO hanbeon.replay (uid, owner, name, title, root, file, bytes, checksum, duration_ms, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, hanbeon.now())
