UPDATE hanbeon.job AS j SET unmet = r.unmet, recount = r.recount
FROM @rows($1 AS r; seq bigint, unmet integer, recount boolean)
WHERE @few(r.seq) AND j.seq = r.seq
