INSERT INTO hanbeon.workflow (id, name, definition, shown, schedule_config, timezone, status, activation, spent,
  declared_name, declared, version, created_by, created_at, changed_at)
SELECT $1, $2, $3, $4, $5, $6, 'draft', 0, false, $7, $8, 1, $9, n.now, n.now
FROM (SELECT hanbeon.now() AS now) AS n
WHERE true
ON CONFLICT DO NOTHING
RETURNING id
