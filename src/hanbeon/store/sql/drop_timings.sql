DELETE FROM hanbeon.timing WHERE queue_id @in($1 bigint)
