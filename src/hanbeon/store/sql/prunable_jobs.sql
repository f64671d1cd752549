-- Finished long enough ago, and nothing unfinished depends on it. Looked up job by job: made a join, it would read all
-- edges whenever the planner thinks that there are few.
SELECT j.seq FROM hanbeon.job AS j
WHERE j.finished_at IS NOT NULL AND j.finished_at < (SELECT hanbeon.now()) - $1
  AND (
    SELECT 1 FROM hanbeon.edge AS e
    WHERE e.dependency = j.seq
      AND (SELECT d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) IN (@unfinished_states)
    LIMIT 1
  ) IS NULL
ORDER BY j.finished_at LIMIT $2 @lock_to_delete
