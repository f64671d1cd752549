DELETE FROM hanbeon.schedule WHERE id = $1
