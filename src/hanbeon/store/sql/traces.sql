-- name: inherit_traces
INSERT INTO hanbeon.trace (job, context)
SELECT j.seq, t.context
FROM @rows($1 AS r; id @uuid, predecessor @uuid)
JOIN hanbeon.job AS j ON @has_id(j; r.id)
JOIN hanbeon.job AS p ON @has_id(p; r.predecessor)
JOIN hanbeon.trace AS t ON t.job = p.seq
WHERE true
ON CONFLICT DO NOTHING

-- name: insert_traces
INSERT INTO hanbeon.trace (job, context)
SELECT r.job, r.context
FROM @rows($1 AS r; job bigint, context text)
WHERE true
ON CONFLICT DO NOTHING

-- name: traces_of
SELECT job, context FROM hanbeon.trace WHERE job @in($1 bigint)
