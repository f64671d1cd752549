SELECT @chain_job_columns FROM hanbeon.chain_job AS b WHERE b.uid = $1
