-- Those of these jobs on which an unfinished one depends. Dependents are looked up one by one: with a join, a planner
-- that thinks the table small would read all of it.
SELECT DISTINCT e.dependency AS seq FROM hanbeon.edge AS e
WHERE e.dependency @in($1 bigint)
  AND (SELECT d.state FROM hanbeon.job AS d WHERE d.seq = e.dependent) IN (@unfinished_states)
