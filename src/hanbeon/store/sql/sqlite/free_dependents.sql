-- SQLite only, as `dependents_met`: these wait for nothing any more, and become ready if they are due.
UPDATE hanbeon.job AS j SET blocked = false, free_at = $2,
  state = CASE WHEN j.state = 'pending' AND j.run_at <= $2 THEN 'ready' ELSE j.state END
WHERE j.seq @in($1 bigint)
