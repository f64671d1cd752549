DELETE FROM hanbeon.instance WHERE seen_at < (SELECT hanbeon.now()) - $1 RETURNING id
