SELECT count(*) AS rows FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid)
WHERE e.owner = $1 AND e.job_type @in($2 text) AND @hidden(j.state) @in($3 text)
