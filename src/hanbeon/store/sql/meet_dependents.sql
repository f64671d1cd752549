UPDATE hanbeon.job AS j SET unmet = j.unmet - d.met,
  free_at = CASE WHEN j.unmet = d.met THEN hanbeon.now() ELSE j.free_at END
FROM (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
) AS d
WHERE j.seq = d.dependent
RETURNING j.seq, j.unmet, j.state
