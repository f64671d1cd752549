SELECT b.seq, b.count FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL ORDER BY b.seq LIMIT $1
