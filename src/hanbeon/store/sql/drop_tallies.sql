DELETE FROM hanbeon.tally WHERE queue_id @in($1 bigint)
