DELETE FROM hanbeon.attempt WHERE job @in($1 bigint)
