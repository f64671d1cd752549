-- The texts that a list shows: of the chain, its jobs, and the steps of its last run.
SELECT c.id, octet_length(c.context) + coalesce((
    SELECT sum(octet_length(b.arguments) + coalesce(octet_length(b.job_return), 0))
    FROM hanbeon.chain_job AS b WHERE b.chain_id = c.id
  ), 0) + coalesce((
    SELECT sum(octet_length(s.returned)) FROM hanbeon.chain_step AS s WHERE s.chain_id = c.id AND s.run = c.run
  ), 0) AS bytes
FROM hanbeon.chain AS c WHERE c.id @in($1 bigint) ORDER BY c.id
