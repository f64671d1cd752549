SELECT b.first_id, b.count, b.at, b.delta, CASE WHEN b.delta IS NULL THEN b.body END AS body
FROM hanbeon.event_batch AS b
WHERE b.first_id > $1 ORDER BY b.first_id LIMIT $2
