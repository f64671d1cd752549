-- The dependents whose policy is to fail with the given jobs, transitively. Looked up one by one: with a join, a
-- planner that thinks few are pending would read all of them.
WITH RECURSIVE behind(seq) AS (
  SELECT e.dependent FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint)
    AND (SELECT d.on_dependency_failure || d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) = 'failpending'
  UNION
  SELECT e.dependent FROM behind AS b JOIN hanbeon.edge AS e ON e.dependency = b.seq
)
SELECT j.seq FROM hanbeon.job AS j WHERE j.seq IN (SELECT seq FROM behind) ORDER BY j.seq @lock
