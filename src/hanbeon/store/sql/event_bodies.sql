SELECT b.first_id, b.at, b.body FROM hanbeon.event_batch AS b
WHERE b.first_id @in($1 bigint) AND b.first_id IS NOT NULL
ORDER BY b.first_id
