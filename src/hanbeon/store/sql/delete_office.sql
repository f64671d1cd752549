DELETE FROM hanbeon.office WHERE id = $1
