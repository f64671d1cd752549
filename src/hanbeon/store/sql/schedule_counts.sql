-- Each count uses an index of its own: an active schedule has a next fire.
SELECT
  (SELECT count(*) FROM hanbeon.schedule AS a WHERE a.due_at IS NOT NULL) AS active,
  (SELECT count(*) FROM hanbeon.schedule AS p WHERE p.paused AND p.deleted_at IS NULL) AS paused
