-- What prunable_jobs, prune_events and prune_instances would find once all is folded, asked until nothing is left.
SELECT
  (SELECT count(*) FROM hanbeon.job AS j WHERE @prunable_job) AS jobs,
  (SELECT coalesce(sum(b.count), 0) FROM hanbeon.event_batch AS b WHERE @prunable_batch) AS events,
  (SELECT count(*) FROM hanbeon.instance AS i WHERE @prunable_instance) AS instances
