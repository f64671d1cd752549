-- Seqs of jobs before $2 with the idempotency key or the unique key $1, newest first, up to $3.
SELECT u.seq FROM (
  SELECT j.seq FROM hanbeon.job AS j WHERE j.idempotency_key = $1 AND j.seq < $2
  UNION
  SELECT j.seq FROM hanbeon.job AS j WHERE j.unique_key = $1 AND j.state IN (@unfinished_states) AND j.seq < $2
  UNION
  SELECT p.seq FROM (
    SELECT j.seq FROM hanbeon.job AS j
    WHERE j.unique_key = $1 AND j.unique_key IS NOT NULL AND j.state IN (@terminal_states) AND j.seq < $2
    ORDER BY j.seq DESC LIMIT $3
  ) AS p
) AS u
ORDER BY u.seq DESC LIMIT $3
