DELETE FROM hanbeon.execution WHERE job @in($1 bigint)
