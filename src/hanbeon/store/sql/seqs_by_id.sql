SELECT j.seq, j.id FROM hanbeon.job AS j WHERE @id_in(j; $1)
