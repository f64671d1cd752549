-- Finished long enough ago, and nothing unfinished depends on it.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.finished_at IS NOT NULL AND j.finished_at < (SELECT hanbeon.now()) - $1
  AND NOT EXISTS (
    SELECT 1 FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependent
    WHERE e.dependency = j.seq AND d.state IN (@unfinished_states)
  )
ORDER BY j.finished_at LIMIT $2 @lock_skip
