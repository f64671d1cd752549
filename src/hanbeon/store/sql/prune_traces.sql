DELETE FROM hanbeon.trace WHERE job @in($1 bigint)
