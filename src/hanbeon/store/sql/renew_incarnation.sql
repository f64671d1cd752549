UPDATE hanbeon.incarnation SET id = @random_id, since = hanbeon.now() WHERE only_row = 1 RETURNING id, since
