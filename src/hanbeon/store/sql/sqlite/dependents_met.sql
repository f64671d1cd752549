-- SQLite only, where nothing else writes meanwhile: how many wait for these jobs, and those of them that wait for nothing
-- else. All in one value: for each row that SQLite hands over, its thread takes turns with the others of the process.
SELECT count(*) AS dependents, n.now, json_group_array(m.dependent) FILTER (WHERE u.dependencies = m.met) AS freed
FROM (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
) AS m
CROSS JOIN hanbeon.unmet AS u ON u.job = m.dependent
CROSS JOIN (SELECT hanbeon.now() AS now) AS n
