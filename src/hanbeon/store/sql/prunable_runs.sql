SELECT r.chain_id, r.n FROM hanbeon.chain_run AS r WHERE @prunable_run ORDER BY r.ended_at LIMIT $2 @lock_skip_run
