-- A job that must be recounted is due immediately.
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM hanbeon.job AS r WHERE r.recount) THEN 0
  ELSE (SELECT min(j.run_at) FROM hanbeon.job AS j WHERE j.state = 'pending' AND NOT j.blocked) - hanbeon.now()
END AS wait_us
