-- name: decrement_unmet
-- SQLite only, as `dependents_met`.
UPDATE hanbeon.unmet AS u SET dependencies = u.dependencies - m.met
FROM (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
) AS m
WHERE u.job = m.dependent

-- name: dependents_met
-- SQLite only, where nothing else writes meanwhile: how many wait for these jobs, and those of them that wait for nothing
-- else. All in one value: for each row that SQLite hands over, its thread takes turns with the others of the process.
SELECT count(*) AS dependents, n.now, json_group_array(m.dependent) FILTER (WHERE u.dependencies = m.met) AS freed
FROM (
  SELECT e.dependent, count(*) AS met FROM hanbeon.edge AS e
  WHERE e.dependency @in($1 bigint) GROUP BY e.dependent
) AS m
CROSS JOIN hanbeon.unmet AS u ON u.job = m.dependent
CROSS JOIN (SELECT hanbeon.now() AS now) AS n

-- name: free_dependents
-- SQLite only, as `dependents_met`: these wait for nothing any more, and become ready if they are due.
UPDATE hanbeon.job AS j SET blocked = false, free_at = $2,
  state = CASE WHEN j.state = 'pending' AND j.run_at <= $2 THEN 'ready' ELSE j.state END
WHERE j.seq @in($1 bigint)

-- name: freed_dependents
-- SQLite only, as `dependents_met`: the dependents that were freed, with the states that they have now.
SELECT json_group_array(json_array(j.seq, j.id, j.lane, j.state)) AS freed FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint)
