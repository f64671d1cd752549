-- Own text: a lateral join keeps the planner on the ready index, and jobs that another instance is claiming are
-- skipped.
SELECT j.seq, j.lane, j.rank
FROM json_array_elements_text($1::json) AS head(lane)
CROSS JOIN LATERAL (
  SELECT k.seq, k.lane, k.rank FROM hanbeon.job AS k
  WHERE k.state = 'ready' AND k.dispatched_at IS NULL AND k.lane = head.lane::bigint
  ORDER BY k.rank, k.seq LIMIT $2
  FOR NO KEY UPDATE SKIP LOCKED
) AS j
ORDER BY j.lane, j.rank, j.seq
