SELECT c.last_id, coalesce((SELECT min(b.first_id) FROM hanbeon.event_batch AS b WHERE b.first_id > 0),
  c.last_id + 1) AS first_kept
FROM hanbeon.event_counter AS c WHERE c.only_row = 1
