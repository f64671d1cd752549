INSERT INTO hanbeon.queue (name, created_at, changed_at)
SELECT DISTINCT r.name, n.now, n.now
FROM @rows($1 AS r; name text) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
ORDER BY r.name
ON CONFLICT DO NOTHING
