INSERT INTO hanbeon.total (name, value)
SELECT r.name, r.value FROM @rows($1 AS r; name text, value bigint)
