SELECT a.seq, a.at, a.user_name, a.via, a.action, a.target, a.count FROM hanbeon.action AS a
WHERE a.seq < $1 AND (CAST($2 AS text) IS NULL OR a.user_name = $2)
ORDER BY a.seq DESC LIMIT $3
