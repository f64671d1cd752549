-- Hops from lane to lane in the ready index, so a lane costs the same whether one job waits in it or a million.
WITH RECURSIVE hop(lane) AS (
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > $1)
  UNION ALL
  SELECT (SELECT min(j.lane) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane > hop.lane)
  FROM hop WHERE hop.lane IS NOT NULL
),
found AS MATERIALIZED (SELECT lane FROM hop WHERE lane IS NOT NULL LIMIT $2)
SELECT f.lane, q.id AS queue_id, l.role, l.concurrency_key, q.limited, q.limits, q.paused,
  (NOT q.paused AND l.task @in($3 text) AND (CAST($4 AS text) IS NULL OR q.name @in($4 text))) AS open
FROM found AS f
JOIN hanbeon.lane AS l ON l.n = (f.lane & 4294967295)
JOIN hanbeon.queue AS q ON q.id = (f.lane >> 32)
ORDER BY f.lane
