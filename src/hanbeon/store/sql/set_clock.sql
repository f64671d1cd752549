UPDATE hanbeon.clock SET trusted_at = $1, steady_since = $2, seen_at = $3 WHERE only_row = 1
