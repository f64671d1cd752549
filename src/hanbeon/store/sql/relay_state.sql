-- Whether there are listeners, and whether there are events to relay: the only query of an idle relay.
SELECT r.relayed_to, c.last_id, (SELECT min(l.since) FROM hanbeon.listener AS l) AS since,
  (SELECT min(b.seq) FROM hanbeon.event_batch AS b WHERE b.first_id IS NULL) AS unnumbered
FROM hanbeon.relay AS r CROSS JOIN hanbeon.event_counter AS c
WHERE r.only_row = 1 AND c.only_row = 1
