SELECT @listed_columns FROM hanbeon.jobs AS v WHERE v.seq @in($1 bigint) ORDER BY v.seq
