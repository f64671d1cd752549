-- Locked, so that no event of the attempt's end precedes this one.
SELECT j.seq, j.id, j.lane, j.fence, hanbeon.now() AS now FROM hanbeon.job AS j
WHERE j.seq = $1 AND j.fence = $2 AND j.instance = coalesce($3, j.instance) AND @hidden(j.state) = 'running'
  AND @held_until(j.locked_until) > (SELECT hanbeon.now())
@lock
