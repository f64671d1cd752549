-- Their jobs are locked, so that none of these chains goes on meanwhile.
SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.step_job @in($1 @uuid) ORDER BY c.id
