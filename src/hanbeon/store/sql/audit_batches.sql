-- By number and seq, so that a number assigned twice is read twice even if its unique index is broken or missing.
SELECT b.seq, b.at, b.count, b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id >= $1 AND (b.first_id > $1 OR b.seq > $2)
ORDER BY b.first_id, b.seq LIMIT $3
