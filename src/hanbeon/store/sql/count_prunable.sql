-- The rows that the prune_ statements would find once all is folded, if repeated until nothing is left.
SELECT
  (SELECT coalesce(sum(b.count), 0) FROM hanbeon.event_batch AS b WHERE @prunable_batch) AS events,
  (SELECT count(*) FROM hanbeon.instance AS i WHERE @prunable_instance) AS instances
