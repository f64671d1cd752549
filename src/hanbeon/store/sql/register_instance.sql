INSERT INTO hanbeon.instance (id, name, host, pid, version, tasks, capacity, schedules, started_at, seen_at)
SELECT CASE WHEN n.last < n.now THEN n.now ELSE n.last + 1 END, $1, $2, CAST($3 AS integer), $4, $5,
  CAST($6 AS integer), $7, n.now, n.now
FROM (SELECT coalesce(max(i.id), 0) AS last, hanbeon.now() AS now FROM hanbeon.instance AS i) AS n
WHERE true
RETURNING id
