INSERT INTO hanbeon.event_batch (at, count, body, delta) VALUES (hanbeon.now(), $1, $2, $3) RETURNING seq
