SELECT j.seq, j.lane, j.rank
FROM json_each($1) AS head
JOIN hanbeon.job AS j ON j.seq IN (
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = head.value
  ORDER BY k.rank, k.seq LIMIT $2
)
ORDER BY j.lane, j.rank, j.seq
