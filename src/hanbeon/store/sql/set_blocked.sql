UPDATE hanbeon.job AS j SET blocked = r.dependencies > 0, recount = r.recount
FROM @rows($1 AS r; job bigint, dependencies integer, recount boolean)
WHERE @few(r.job) AND j.seq = r.job
