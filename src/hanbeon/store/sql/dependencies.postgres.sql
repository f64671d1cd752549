-- name: meet_dependents
-- PostgreSQL only, where each statement is a round trip: the unmet counts of all dependents, each changed once however
-- many of its dependencies have succeeded, and those that now wait for nothing become ready. In the order of their
-- numbers, in which all completions lock them; the clock is read when they are locked. More than $2 dependents are only
-- counted: the transaction must announce them first.
-- Each of them has a count, so the INSERT always meets a conflict: this finds the row by its key and counts down what is
-- there now. A join would be planned by statistics, and walk the table when they say that it is empty.
WITH met AS MATERIALIZED (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
),
total AS MATERIALIZED (SELECT count(*) AS dependents FROM met),
counted AS (
  INSERT INTO hanbeon.unmet AS u (job, dependencies)
  SELECT m.dependent, m.met FROM met AS m WHERE (SELECT t.dependents FROM total AS t) <= $2 ORDER BY m.dependent
  ON CONFLICT (job) DO UPDATE SET dependencies = u.dependencies - excluded.dependencies
  RETURNING u.job, u.dependencies
),
n AS MATERIALIZED (SELECT hanbeon.now() + 0 * count(*) AS now FROM counted),
freed AS (
  UPDATE hanbeon.job AS j SET blocked = false, free_at = n.now,
    state = CASE WHEN j.state = 'pending' AND j.run_at <= n.now THEN 'ready' ELSE j.state END
  FROM n
  WHERE j.seq = ANY(ARRAY(SELECT c.job FROM counted AS c WHERE c.dependencies = 0))
  RETURNING j.seq, j.id, j.lane, j.state
)
SELECT t.dependents, n.now,
  (SELECT json_agg(json_build_array(f.seq, f.id, f.lane, f.state))::text FROM freed AS f) AS freed
FROM total AS t CROSS JOIN n
