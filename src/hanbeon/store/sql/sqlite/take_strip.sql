-- SQLite only: claims the jobs of `strip_head`, in the same transaction.
UPDATE hanbeon.job AS j
SET state = 'running', fence = j.fence + 1, instance = $2, locked_until = $3 + $4, started_at = $3,
  deadline_at = $3 + j.timeout_us, finished_at = NULL
WHERE j.seq IN (SELECT value FROM json_each($1))
