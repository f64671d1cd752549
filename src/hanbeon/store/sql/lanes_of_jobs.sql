SELECT j.seq, j.lane FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)
