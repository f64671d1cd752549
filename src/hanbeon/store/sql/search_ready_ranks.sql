-- The ranks of the ready jobs in the lanes $1, up to $2: hops from rank to rank, however many jobs have the same.
WITH RECURSIVE hop(lane, rank) AS (
  SELECT r.lane, (SELECT min(j.rank) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = r.lane)
  FROM @rows($1 AS r; lane bigint)
  UNION ALL
  SELECT hop.lane,
    (SELECT min(j.rank) FROM hanbeon.job AS j WHERE j.state = 'ready' AND j.lane = hop.lane AND j.rank > hop.rank)
  FROM hop WHERE hop.rank IS NOT NULL
)
SELECT lane, rank FROM hop WHERE rank IS NOT NULL LIMIT $2
