SELECT DISTINCT e.replay_id AS id FROM hanbeon.export AS e WHERE e.replay_id @in($1 bigint)
