WITH n AS MATERIALIZED (SELECT hanbeon.now() AS now)
SELECT j.seq, n.now
FROM hanbeon.job AS j CROSS JOIN n
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > n.now
@lock_job
