DELETE FROM hanbeon.chain_step AS s
WHERE (s.chain_id, s.run) IN (SELECT r.chain_id, r.n FROM @rows($1 AS r; chain_id bigint, n bigint))
