SELECT r.chain_id, r.n, r.started_by, r.started_at, r.ended_at, r.job_number, r.operation_direction
FROM hanbeon.chain_run AS r WHERE r.chain_id = $1 AND r.n < $2 ORDER BY r.n DESC LIMIT $3
