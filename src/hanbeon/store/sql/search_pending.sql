-- Like `search_ended`, of pending jobs.
WITH newest AS MATERIALIZED (
  SELECT r.lane, (SELECT max(j.seq) FROM hanbeon.job AS j WHERE j.state = 'pending'
    AND j.lane = r.lane AND j.seq < $2) AS seq
  FROM @rows($1 AS r; lane bigint)
),
head AS MATERIALIZED (SELECT lane, seq FROM newest WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT $3)
SELECT s.seq FROM head AS h @each[
  SELECT k.seq FROM hanbeon.job AS k WHERE k.state = 'pending'
    AND k.lane = h.lane AND k.seq <= h.seq
    AND k.seq >= (SELECT CASE WHEN count(*) < $3 THEN 0 ELSE min(t.seq) END FROM head AS t)
  ORDER BY k.seq DESC LIMIT $3
]
ORDER BY s.seq DESC LIMIT $3
