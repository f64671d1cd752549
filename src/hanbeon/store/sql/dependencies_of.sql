SELECT d.id, d.state FROM hanbeon.job AS j
JOIN hanbeon.edge AS e ON e.dependent = j.seq JOIN hanbeon.job AS d ON d.seq = e.dependency
WHERE @has_id(j; $1) ORDER BY d.seq
