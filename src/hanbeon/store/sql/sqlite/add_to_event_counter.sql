-- SQLite only: follows each insertion of numbered events.
UPDATE hanbeon.event_counter SET last_id = last_id + $1 WHERE only_row = 1
