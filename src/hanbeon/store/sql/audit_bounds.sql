SELECT hanbeon.now() AS now, c.last_id,
  (SELECT min(b.at) FROM hanbeon.event_batch AS b) AS oldest_at,
  (SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.first_id IS NOT NULL) AS first_id
FROM hanbeon.event_counter AS c WHERE c.only_row = 1
