SELECT o.id, o.name, o.config, o.sessions, o.version, o.created_at, o.changed_at
FROM hanbeon.office AS o
WHERE CAST($1 AS @uuid) IS NULL OR o.id > $1
ORDER BY o.id LIMIT $2
