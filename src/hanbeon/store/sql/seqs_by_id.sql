SELECT j.seq, j.id FROM hanbeon.job AS j WHERE j.id @in($1 @uuid)
