SELECT j.seq, @job_bytes AS bytes FROM hanbeon.job AS j WHERE j.seq @in($1 bigint)
