SELECT u.bytes FROM hanbeon.replay_usage AS u WHERE u.owner = $1
