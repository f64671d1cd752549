-- Share-locked: none of these can finish or be pruned before our commit.
SELECT j.seq, j.state FROM hanbeon.job AS j WHERE j.seq @in($1 bigint) ORDER BY j.seq @share
