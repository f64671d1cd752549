SELECT 'missing' AS kind, CAST(j.id AS text) AS id, j.seq AS job, j.fence
FROM hanbeon.job AS j
WHERE j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running') AND NOT EXISTS (
  SELECT 1 FROM hanbeon.dispatch AS d WHERE d.job = j.seq AND d.fence = j.fence
)
UNION ALL
SELECT 'left' AS kind, (SELECT CAST(j.id AS text) FROM hanbeon.job AS j WHERE j.seq = d.job) AS id, d.job, d.fence
FROM hanbeon.dispatch AS d
WHERE d.close_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM hanbeon.job AS j
  WHERE j.seq = d.job AND j.fence = d.fence AND j.dispatched_at IS NOT NULL AND j.state IN ('ready', 'running')
)
ORDER BY job, kind
