DELETE FROM hanbeon.unmet WHERE job @in($1 bigint)
