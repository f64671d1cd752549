-- By number and place, so that a number given twice is read twice even where its unique index is broken or missing.
SELECT b.seq, b.at, b.count, b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id >= $1 AND (b.first_id > $1 OR b.seq > $2)
ORDER BY b.first_id, b.seq LIMIT $3
