DELETE FROM hanbeon.export WHERE uid IN (SELECT j.id FROM hanbeon.job AS j WHERE j.seq @in($1 bigint))
