SELECT @chain_columns FROM hanbeon.chain AS c WHERE c.uid = $1
