SELECT r.chain_id, r.n FROM hanbeon.chain_run AS r WHERE r.uid = $1
