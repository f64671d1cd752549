DELETE FROM hanbeon.chain WHERE id = $1
