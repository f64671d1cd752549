INSERT INTO hanbeon.trace (job, context)
SELECT j.seq, t.context
FROM @rows($1 AS r; id @uuid, predecessor @uuid)
JOIN hanbeon.job AS j ON @has_id(j; r.id)
JOIN hanbeon.job AS p ON @has_id(p; r.predecessor)
JOIN hanbeon.trace AS t ON t.job = p.seq
WHERE true
ON CONFLICT DO NOTHING
