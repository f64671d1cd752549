DELETE FROM hanbeon.chain_run AS k
WHERE (k.chain_id, k.n) IN (SELECT r.chain_id, r.n FROM @rows($1 AS r; chain_id bigint, n bigint))
