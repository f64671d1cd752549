DELETE FROM hanbeon.log WHERE job @in($1 bigint)
