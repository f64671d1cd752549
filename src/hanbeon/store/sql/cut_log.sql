DELETE FROM hanbeon.log WHERE job = $1 AND attempt = $2 AND n >= $3 AND n < $4
