SELECT @export_columns FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.owner = $1 AND e.job_type @in($2 text) AND @hidden(j.state) @in($3 text)
ORDER BY e.id DESC LIMIT $4 OFFSET $5
