SELECT @chain_job_columns FROM hanbeon.chain_job AS b WHERE b.chain_id @in($1 bigint) ORDER BY b.chain_id, b.place
