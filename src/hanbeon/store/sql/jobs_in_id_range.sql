SELECT v.seq, v.id FROM hanbeon.job AS v WHERE v.id >= $1 AND v.id <= $2 ORDER BY v.id DESC LIMIT $3
