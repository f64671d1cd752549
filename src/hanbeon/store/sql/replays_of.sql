SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.owner = $1 ORDER BY r.id DESC LIMIT $2 OFFSET $3
