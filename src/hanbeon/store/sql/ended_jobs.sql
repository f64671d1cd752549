SELECT j.seq, j.id, j.lane, j.state, j.fence, j.started_at, j.finished_at, j.progress, j.result, j.failure_type,
  j.error_message
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) ORDER BY j.seq
