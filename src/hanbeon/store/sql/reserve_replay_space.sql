UPDATE hanbeon.unwanted_file SET uploader = $2, reserved = $3 WHERE id = $1 RETURNING id
