SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.id > $1 ORDER BY e.id LIMIT $2
