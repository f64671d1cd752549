SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.id = $1 AND r.owner = $2
