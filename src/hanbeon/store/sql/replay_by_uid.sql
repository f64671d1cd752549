SELECT @replay_columns FROM hanbeon.replay AS r WHERE r.uid = $1
