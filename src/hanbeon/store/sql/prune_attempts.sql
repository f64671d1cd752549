DELETE FROM hanbeon.past_attempt WHERE job @in($1 bigint)
