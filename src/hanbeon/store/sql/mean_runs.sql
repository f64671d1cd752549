-- Of each of the lanes $1: the mean run of its newest succeeded jobs, up to $2 of them; null if there is none.
SELECT r.lane, (
  SELECT avg(n.ran) FROM (
    SELECT j.finished_at - j.started_at AS ran FROM hanbeon.job AS j
    WHERE j.state = 'succeeded' AND j.state IN (@terminal_states) AND j.lane = r.lane
    ORDER BY j.seq DESC LIMIT $2
  ) AS n
) AS mean
FROM @rows($1 AS r; lane bigint)
