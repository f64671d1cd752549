-- SQLite only: `insert_events` for strips, which happened at the instant $1 and have no delta.
INSERT INTO hanbeon.event_batch (at, count, first_id, body)
SELECT $1, $2, c.last_id + 1, $3 FROM hanbeon.event_counter AS c WHERE c.only_row = 1
