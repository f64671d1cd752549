UPDATE hanbeon.relay SET relayed_to = $1 WHERE only_row = 1
