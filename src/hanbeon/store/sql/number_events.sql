UPDATE hanbeon.event_batch AS b SET first_id = r.first_id
FROM @rows($1 AS r; seq bigint, first_id bigint)
WHERE @few(r.seq) AND b.seq = r.seq
