INSERT INTO hanbeon.replay_usage AS u (owner, bytes) VALUES ($1, $2)
ON CONFLICT (owner) DO UPDATE SET bytes = u.bytes + excluded.bytes
RETURNING bytes
