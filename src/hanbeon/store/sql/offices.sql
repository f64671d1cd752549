SELECT o.id, o.name, o.config, o.sessions, o.version, o.created_at, o.changed_at
FROM hanbeon.office AS o
WHERE o.id @in($1 @uuid)
ORDER BY o.id
