SELECT j.seq, j.id, j.lane, j.state, j.priority, j.urgent, j.recount, j.fence, j.unique_key, j.dispatched_at,
  coalesce((SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq), 0) AS unmet
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) ORDER BY j.seq @lock_job
