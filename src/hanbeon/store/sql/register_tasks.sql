INSERT INTO hanbeon.task (name, settings, registered_by, first_registered_at, registered_at)
SELECT r.name, r.settings, $2, n.now, n.now
FROM @rows($1 AS r; name text, settings text) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE true
ORDER BY r.name
ON CONFLICT (name) DO UPDATE SET settings = excluded.settings, registered_by = excluded.registered_by,
  registered_at = excluded.registered_at
