-- Like `search_ended`, of ready jobs, by lanes and ranks.
WITH newest AS MATERIALIZED (
  SELECT r.lane, r.rank, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.state = 'ready'
    AND j.lane = r.lane AND j.rank = r.rank AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint, rank bigint)
),
head AS MATERIALIZED (SELECT lane, rank, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'ready' AND k.lane = h.lane AND k.rank = h.rank AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3
