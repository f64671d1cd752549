DELETE FROM hanbeon.replay WHERE id @in($1 bigint)
