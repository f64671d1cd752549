DELETE FROM hanbeon.chain_run WHERE chain_id = $1
