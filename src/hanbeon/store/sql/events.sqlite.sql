-- name: add_to_event_counter
-- SQLite only: follows each insertion of numbered events.
UPDATE hanbeon.event_counter SET last_id = last_id + $1 WHERE only_row = 1

-- name: insert_events
-- Own text: there is one writer at a time, so write order is commit order, and a batch gets its number with its insertion.
INSERT INTO hanbeon.event_batch (at, count, first_id, body, delta)
SELECT hanbeon.now(), $1, c.last_id + 1, $2, $3 FROM hanbeon.event_counter AS c WHERE c.only_row = 1
