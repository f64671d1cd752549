INSERT INTO hanbeon.chain_run (chain_id, n, uid, started_by, job_number, started_at)
VALUES ($1, $2, $3, $4, $5, hanbeon.now())
RETURNING started_at
