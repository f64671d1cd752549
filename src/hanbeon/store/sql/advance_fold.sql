UPDATE hanbeon.fold SET folded_to = $1, folded_at = hanbeon.now() WHERE only_row = 1
