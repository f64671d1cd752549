SELECT job, context FROM hanbeon.trace WHERE job @in($1 bigint)
