DELETE FROM hanbeon.dispatch WHERE n @in($1 bigint)
