-- The rows are locked. This is the only place where a job changes its lane, before it has ever run.
UPDATE hanbeon.job AS j SET lane = r.lane, timeout_us = r.timeout_us, policy = r.policy
FROM @rows($1 AS r; seq bigint, lane bigint, timeout_us bigint, policy text)
WHERE @few(r.seq) AND j.seq = r.seq AND @hidden(j.state) IN ('pending', 'ready')
RETURNING j.seq
