UPDATE hanbeon.chain_run AS k SET ended_at = r.ended_at, operation_direction = r.operation_direction
FROM @rows($1 AS r; chain_id bigint, n bigint, ended_at bigint, operation_direction text)
WHERE @few(r.chain_id) AND k.chain_id = r.chain_id AND k.n = r.n
