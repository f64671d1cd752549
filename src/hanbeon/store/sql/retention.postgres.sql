-- name: prune_jobs
-- Own text: with their ids.
WITH gone AS (
  DELETE FROM hanbeon.job WHERE seq @in($1 bigint) AND finished_at IS NOT NULL
  RETURNING seq, id, lane, state, started_at, finished_at, hanbeon.now() AS now
),
ids AS (DELETE FROM hanbeon.job_id WHERE id = ANY(ARRAY(SELECT g.id FROM gone AS g)))
SELECT g.seq, g.lane, g.state, g.started_at, g.finished_at, g.now FROM gone AS g
