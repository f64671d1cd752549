-- The jobs that prunable_jobs would find if it were repeated until nothing is left, by queue.
SELECT (j.lane >> 32) AS queue_id, count(*) AS jobs FROM hanbeon.job AS j WHERE @prunable_job GROUP BY (j.lane >> 32)
