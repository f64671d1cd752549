INSERT INTO hanbeon.event_batch (at, count, body) VALUES (hanbeon.now(), $1, $2) RETURNING seq
