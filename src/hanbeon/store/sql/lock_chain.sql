SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.id = $1 @lock
