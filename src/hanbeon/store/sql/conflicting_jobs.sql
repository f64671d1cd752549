SELECT j.id, j.state, j.digest, j.idempotency_key, j.unique_key
FROM hanbeon.job AS j
WHERE j.id @in($1 @uuid)
  OR j.idempotency_key @in($2 text)
  OR (j.unique_key @in($3 text) AND j.state IN (@unfinished_states))
