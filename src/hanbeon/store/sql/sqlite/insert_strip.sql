-- SQLite only: a batch of events with its number, in one statement.
INSERT INTO hanbeon.event_batch (at, count, first_id, body)
SELECT $1, $2, c.last_id + 1, $3 FROM hanbeon.event_counter AS c WHERE c.only_row = 1
