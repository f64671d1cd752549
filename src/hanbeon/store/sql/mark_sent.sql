UPDATE hanbeon.dispatch SET epoch = $2 WHERE n @in($1 bigint)
