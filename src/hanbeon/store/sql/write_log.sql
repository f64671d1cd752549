-- A chunk that was not full is rewritten with the lines that follow; one whose answer was lost is rewritten unchanged.
INSERT INTO hanbeon.log (job, attempt, n, first_line, lines, body)
SELECT r.job, r.attempt, r.n, r.first_line, r.lines, r.body
FROM @rows($1 AS r; job bigint, attempt bigint, n integer, first_line bigint, lines integer, body text)
WHERE true
ON CONFLICT (job, attempt, n) DO UPDATE SET lines = excluded.lines, body = excluded.body
