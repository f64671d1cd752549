-- Unfinished jobs of a queue, optionally without those that have been requested to stop. One branch per state, so that
-- each uses its partial index.
SELECT u.stopping FROM (
  SELECT (j.stop_requested_at IS NOT NULL) AS stopping FROM hanbeon.job AS j
  WHERE j.state = 'running' AND j.lane >= $1 AND j.lane < $2
  UNION ALL
  SELECT false AS stopping FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane >= $1 AND j.lane < $2
  UNION ALL
  SELECT false AS stopping FROM hanbeon.job AS j WHERE j.state = 'pending' AND j.lane >= $1 AND j.lane < $2
) AS u
WHERE NOT ($3 AND u.stopping) LIMIT 1
