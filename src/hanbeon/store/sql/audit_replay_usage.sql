SELECT b.owner, sum(b.used) AS used, sum(b.noted) AS noted
FROM (
  SELECT r.owner, r.bytes AS used, 0 AS noted FROM hanbeon.replay AS r
  UNION ALL
  SELECT u.owner, 0, u.bytes FROM hanbeon.replay_usage AS u
) AS b
GROUP BY b.owner HAVING sum(b.used) <> sum(b.noted)
