SELECT l.attempt, l.first_line, l.lines, l.body FROM hanbeon.log AS l
WHERE l.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1))
  AND l.attempt >= $2 AND l.attempt <= $3 AND (l.attempt > $2 OR l.first_line + l.lines > $4 + 1)
ORDER BY l.attempt, l.n LIMIT $5
