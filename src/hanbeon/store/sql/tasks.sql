SELECT t.id, t.name, t.settings, t.registered_by, t.first_registered_at, t.registered_at
FROM hanbeon.task AS t
WHERE (CAST($1 AS text) IS NULL OR t.name > $1) AND (CAST($2 AS text) IS NULL OR t.name = $2)
ORDER BY t.name LIMIT $3
