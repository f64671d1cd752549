DELETE FROM hanbeon.chain_step WHERE chain_id = $1
