DELETE FROM hanbeon.lane WHERE queue_id @in($1 bigint)
