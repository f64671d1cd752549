-- Rows of jobs that do not exist. A job is pruned together with its rows.
SELECT 'attempt' AS kind, a.job AS job, a.attempt AS other FROM hanbeon.past_attempt AS a
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = a.job)
UNION ALL
SELECT 'edge' AS kind, e.dependent AS job, e.dependency AS other FROM hanbeon.edge AS e
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = e.dependent)
UNION ALL
SELECT 'execution' AS kind, x.job AS job, x.task_id AS other FROM hanbeon.execution AS x
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = x.job)
UNION ALL
SELECT 'id' AS kind, i.seq AS job, 0 AS other FROM @job_ids AS i
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = i.seq AND j.id = i.id)
UNION ALL
SELECT 'log' AS kind, l.job AS job, l.attempt AS other FROM hanbeon.log AS l
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = l.job)
GROUP BY l.job, l.attempt
UNION ALL
SELECT 'trace' AS kind, t.job AS job, 0 AS other FROM hanbeon.trace AS t
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = t.job)
UNION ALL
SELECT 'unmet' AS kind, u.job AS job, 0 AS other FROM hanbeon.unmet AS u
WHERE NOT EXISTS (SELECT 1 FROM hanbeon.job AS j WHERE j.seq = u.job)
ORDER BY job, kind, other
