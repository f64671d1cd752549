SELECT last_id FROM hanbeon.event_counter WHERE only_row = 1
