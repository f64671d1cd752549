DELETE FROM hanbeon.chain_job WHERE chain_id = $1
