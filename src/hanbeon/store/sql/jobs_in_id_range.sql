SELECT v.seq, v.id FROM @job_ids AS v WHERE v.id >= $1 AND v.id <= $2 ORDER BY v.id DESC LIMIT $3
