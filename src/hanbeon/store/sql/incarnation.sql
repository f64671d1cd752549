SELECT id, since FROM hanbeon.incarnation WHERE only_row = 1
