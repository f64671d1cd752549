-- Unfinished executions that do not have these settings yet.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.unique_key >= $1 AND j.unique_key < $2 AND j.state IN (@unfinished_states)
  AND (j.timeout_us IS DISTINCT FROM $3 OR j.policy <> $4)
ORDER BY j.seq
