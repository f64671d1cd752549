SELECT b.seq, b.at, b.count, b.first_id, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id IS NULL AND b.seq > $1
ORDER BY b.seq LIMIT $2
