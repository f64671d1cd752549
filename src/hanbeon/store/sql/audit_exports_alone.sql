SELECT e.id, CAST(e.uid AS text) AS uid, 'export' AS kind
FROM hanbeon.export AS e LEFT JOIN hanbeon.job AS j ON @has_id(j; e.uid) WHERE j.id IS NULL
UNION ALL
SELECT j.seq, CAST(j.id AS text), 'job'
FROM hanbeon.lane AS l JOIN hanbeon.job AS j ON (j.lane & 4294967295) = l.n
LEFT JOIN hanbeon.export AS e ON e.uid = j.id
WHERE l.task IN (@export_tasks) AND e.id IS NULL
