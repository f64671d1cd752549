-- Those told to fail with the given jobs, and all that waits behind them.
WITH RECURSIVE behind(seq) AS (
  SELECT e.dependent FROM hanbeon.edge AS e JOIN hanbeon.job AS j ON j.seq = e.dependent
  WHERE e.dependency @in($1 bigint) AND j.on_dependency_failure = 'fail' AND j.state = 'pending'
  UNION
  SELECT e.dependent FROM behind AS b JOIN hanbeon.edge AS e ON e.dependency = b.seq
)
SELECT j.seq FROM hanbeon.job AS j WHERE j.seq IN (SELECT seq FROM behind) ORDER BY j.seq @lock
