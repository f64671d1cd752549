UPDATE hanbeon.job AS j SET unmet = r.unmet
FROM @rows($1 AS r; seq bigint, unmet integer)
WHERE j.seq = r.seq
