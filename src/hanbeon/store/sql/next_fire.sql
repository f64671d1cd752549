SELECT (SELECT min(s.due_at) FROM hanbeon.schedule AS s WHERE s.due_at IS NOT NULL) - hanbeon.now() AS wait_us,
  EXISTS (SELECT 1 FROM hanbeon.schedule AS w WHERE w.waiting IS NOT NULL) AS waiting
