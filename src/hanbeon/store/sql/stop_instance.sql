UPDATE hanbeon.instance SET seen_at = hanbeon.now(), stopped_at = hanbeon.now(), running = 0 WHERE id = $1
