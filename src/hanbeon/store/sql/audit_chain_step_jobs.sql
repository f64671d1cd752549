SELECT j.id, j.state, j.failure_type FROM hanbeon.job AS j WHERE @id_in(j; $1)
