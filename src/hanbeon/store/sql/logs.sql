-- name: cut_log
DELETE FROM hanbeon.log WHERE job = $1 AND attempt = $2 AND n >= $3 AND n < $4

-- name: log_after
SELECT l.attempt, l.first_line, l.lines, l.body FROM hanbeon.log AS l
WHERE l.job = (SELECT j.seq FROM hanbeon.job AS j WHERE @has_id(j; $1))
  AND l.attempt >= $2 AND l.attempt <= $3 AND (l.attempt > $2 OR l.first_line + l.lines > $4 + 1)
ORDER BY l.attempt, l.n LIMIT $5

-- name: write_log
-- A chunk that was not full is rewritten with the lines that follow; one whose answer was lost is rewritten unchanged.
INSERT INTO hanbeon.log (job, attempt, n, first_line, lines, body)
SELECT r.job, r.attempt, r.n, r.first_line, r.lines, r.body
FROM @rows($1 AS r; job bigint, attempt bigint, n integer, first_line bigint, lines integer, body text)
WHERE true
ON CONFLICT (job, attempt, n) DO UPDATE SET lines = excluded.lines, body = excluded.body
