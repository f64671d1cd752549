INSERT INTO hanbeon.unmet (job, dependencies)
SELECT r.job, r.dependencies FROM @rows($1 AS r; job bigint, dependencies integer) WHERE r.dependencies > 0
