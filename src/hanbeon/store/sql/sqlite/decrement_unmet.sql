-- SQLite only, as `dependents_met`.
UPDATE hanbeon.unmet AS u SET dependencies = u.dependencies - m.met
FROM (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
) AS m
WHERE u.job = m.dependent
