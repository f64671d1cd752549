SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.id > $1 ORDER BY r.id LIMIT $2
