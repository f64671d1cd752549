DELETE FROM hanbeon.queue WHERE id @in($1 bigint)
