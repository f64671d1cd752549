SELECT j.seq FROM hanbeon.job AS j
WHERE @prunable_job
ORDER BY j.finished_at LIMIT $2 @lock_to_delete
