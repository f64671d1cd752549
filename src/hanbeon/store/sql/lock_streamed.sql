SELECT j.seq, CAST(j.id AS text) AS id, j.lane, j.state, j.fence, j.instance, j.retry_count, j.policy,
  j.stop_requested_at, j.started_at, j.deadline_at, j.failure_type, j.progress, j.dispatched_at, j.timeout_us, j.run_at,
  j.created_at, j.free_at, hanbeon.now() AS now
FROM hanbeon.job AS j WHERE @id_in(j; $1) ORDER BY j.seq @lock
