SELECT j.seq, j.id, j.lane, j.state, j.priority, j.urgent, j.unmet, j.recount, j.fence, j.unique_key,
  j.dispatched_at FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) ORDER BY j.seq @lock
