UPDATE hanbeon.dispatch AS d SET close_at = r.at
FROM @rows($1 AS r; n bigint, at bigint)
WHERE d.n = r.n
