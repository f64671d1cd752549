UPDATE hanbeon.event_counter SET last_id = $1 WHERE only_row = 1
