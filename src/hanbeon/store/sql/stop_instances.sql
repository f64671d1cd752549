UPDATE hanbeon.instance SET stopped_at = hanbeon.now(), running = 0 WHERE stopped_at IS NULL RETURNING id
