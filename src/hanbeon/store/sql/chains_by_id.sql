SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id @in($1 bigint) ORDER BY c.id
