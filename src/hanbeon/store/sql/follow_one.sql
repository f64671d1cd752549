UPDATE hanbeon.job AS j SET timeout_us = $2, policy = $3
WHERE j.seq = $1 AND @hidden(j.state) IN (@unfinished_states)
