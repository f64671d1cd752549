-- Rows of attempts that were never claimed, and rows that overlap the lines of the previous row.
SELECT j.id, l.attempt, j.fence, l.n, l.first_line, l.lines FROM (
  SELECT k.job, k.attempt, k.n, k.first_line, k.lines,
    lag(k.first_line + k.lines) OVER (PARTITION BY k.job, k.attempt ORDER BY k.n) AS next_line
  FROM hanbeon.log AS k
) AS l
JOIN hanbeon.job AS j ON j.seq = l.job
WHERE l.attempt NOT BETWEEN 1 AND j.fence OR l.first_line < l.next_line OR l.lines < 1
ORDER BY j.seq, l.attempt, l.n
