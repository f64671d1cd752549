-- One branch per state, so that each uses its partial index. Newest first; those asked to stop before come last.
SELECT u.seq, u.asked FROM (
  SELECT j.seq, j.lane, j.work_item, false AS asked FROM hanbeon.job AS j
  WHERE j.state = 'pending' AND 'pending' @in($1 text) AND j.lane >= $2 AND j.lane < $3
  UNION ALL
  SELECT j.seq, j.lane, j.work_item, false AS asked FROM hanbeon.job AS j
  WHERE j.state = 'ready' AND 'ready' @in($1 text) AND j.lane >= $2 AND j.lane < $3
  UNION ALL
  SELECT j.seq, j.lane, j.work_item, j.stop_requested_at IS NOT NULL AS asked FROM hanbeon.job AS j
  WHERE j.state = 'running' AND 'running' @in($1 text) AND j.lane >= $2 AND j.lane < $3
    AND (CAST($7 AS boolean) IS NULL OR coalesce(j.deadline_at <= (SELECT hanbeon.now()), false) = $7)
) AS u
JOIN hanbeon.lane AS l ON l.n = (u.lane & 4294967295)
WHERE (CAST($4 AS text) IS NULL OR l.task = $4)
  AND (CAST($5 AS text) IS NULL OR l.role = $5)
  AND (CAST($6 AS text) IS NULL OR u.work_item = $6)
ORDER BY u.asked, u.seq DESC LIMIT $8
