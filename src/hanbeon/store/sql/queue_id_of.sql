SELECT (j.lane >> 32) AS queue_id, hanbeon.now() AS now FROM hanbeon.job AS j WHERE @has_id(j; $1)
