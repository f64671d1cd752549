-- Own text: there is one writer at a time, so write order is commit order, and a batch gets its number with its insertion.
INSERT INTO hanbeon.event_batch (at, count, first_id, body, delta)
SELECT hanbeon.now(), $1, c.last_id + 1, $2, $3 FROM hanbeon.event_counter AS c WHERE c.only_row = 1
