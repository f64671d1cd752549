-- Still waiting now that they are locked: they may have been cancelled since they were read.
SELECT j.seq, j.lane, j.meta, j.policy, j.timeout_us FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND @hidden(j.state) IN ('pending', 'ready') AND j.dispatched_at IS NULL
ORDER BY j.seq @lock
