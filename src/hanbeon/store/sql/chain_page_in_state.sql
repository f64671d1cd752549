SELECT c.id, c.job_number FROM hanbeon.chain AS c WHERE c.state = $3 AND c.id > $1 ORDER BY c.id LIMIT $2
