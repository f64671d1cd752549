SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.step_job @in($1 @uuid) ORDER BY c.id @lock
