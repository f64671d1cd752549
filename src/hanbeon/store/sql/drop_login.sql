DELETE FROM hanbeon.login WHERE hash = $1 RETURNING hash
