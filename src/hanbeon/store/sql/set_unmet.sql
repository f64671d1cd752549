UPDATE hanbeon.job AS j SET unmet = r.unmet
FROM @rows($1 AS r; seq bigint, unmet integer)
WHERE @few(r.seq) AND j.seq = r.seq
