SELECT count(*) AS rows FROM hanbeon.replay AS r WHERE r.owner = $1
