INSERT INTO hanbeon.chain_job (uid, chain_id, place, forward_operation, backward_operation, arguments,
  operation_library, expired_us, state)
SELECT r.uid, r.chain_id, r.place, r.forward_operation, r.backward_operation, r.arguments, r.operation_library,
  r.expired_us, r.state
FROM @rows($1 AS r; uid @uuid, chain_id bigint, place integer, forward_operation text, backward_operation text,
  arguments text, operation_library text, expired_us bigint, state text)
WHERE true
ORDER BY r.place
