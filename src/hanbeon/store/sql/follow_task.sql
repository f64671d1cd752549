-- Unfinished executions get the task's new settings: a timeout applies from the next claim, a policy at the next end.
-- A locked row is skipped: a completion of several jobs may wait for one that we hold.
WITH free AS MATERIALIZED (
  SELECT k.seq FROM hanbeon.job AS k
  WHERE k.unique_key >= $1 AND k.unique_key < $2 AND k.state IN (@unfinished_states)
  ORDER BY k.seq @lock_skip
)
UPDATE hanbeon.job AS j SET timeout_us = $3, policy = $4
WHERE j.seq @among(free)
RETURNING j.seq
