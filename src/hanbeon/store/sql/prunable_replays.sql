SELECT @replay_columns FROM hanbeon.replay AS r
WHERE r.created_at < (SELECT hanbeon.now()) - $1
  AND NOT EXISTS (SELECT 1 FROM hanbeon.export AS e WHERE e.replay_id = r.id)
ORDER BY r.created_at LIMIT $2 @lock_skip_run
