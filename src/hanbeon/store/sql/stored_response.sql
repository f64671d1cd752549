SELECT a.digest, a.status, a.headers, a.body FROM hanbeon.answer AS a WHERE a.user_name = $1 AND a.key = $2
