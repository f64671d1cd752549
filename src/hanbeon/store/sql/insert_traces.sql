INSERT INTO hanbeon.trace (job, context)
SELECT r.job, r.context
FROM @rows($1 AS r; job bigint, context text)
WHERE true
ON CONFLICT DO NOTHING
