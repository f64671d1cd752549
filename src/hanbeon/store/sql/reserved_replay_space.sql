SELECT CAST(coalesce(sum(f.reserved), 0) AS bigint) AS bytes FROM hanbeon.unwanted_file AS f
WHERE f.uploader = $1 AND f.id <> $2
