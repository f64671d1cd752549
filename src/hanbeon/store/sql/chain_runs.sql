SELECT r.chain_id, r.n, r.started_by, r.started_at, r.ended_at, r.job_number, r.operation_direction, coalesce((
    SELECT sum(octet_length(s.returned)) FROM hanbeon.chain_step AS s WHERE s.chain_id = r.chain_id AND s.run = r.n
  ), 0) AS bytes
FROM hanbeon.chain_run AS r WHERE r.chain_id = $1 AND r.n < $2 ORDER BY r.n DESC LIMIT $3
