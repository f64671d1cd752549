-- What is unfinished goes on by the task's new settings: a timeout counts from the next claim, a policy at the next end.
UPDATE hanbeon.job AS j SET timeout_us = $3, policy = $4
WHERE j.unique_key >= $1 AND j.unique_key < $2 AND j.state IN (@unfinished_states)
RETURNING j.seq
