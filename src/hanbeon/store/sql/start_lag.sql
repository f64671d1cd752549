-- The time for which the longest-due execution that does not run has been due. The oldest come first, so that a limit
-- of them is enough; measured from its creation, because the time before that is the lag of its schedule. By row
-- comparison of (state, seq), as in executions_in_state.
SELECT max(w.lag) AS lag FROM (
  SELECT hanbeon.now() - CASE WHEN r.run_at > r.created_at THEN r.run_at ELSE r.created_at END AS lag
  FROM (
    SELECT j.run_at, j.created_at FROM hanbeon.job AS j
    WHERE @an_execution AND (j.state, j.seq) >= ('ready', 0) AND (j.state, j.seq) < ('ready', 9223372036854775807)
    ORDER BY j.state, j.seq LIMIT $1
  ) AS r
  UNION ALL
  SELECT hanbeon.now() - CASE WHEN p.run_at > p.created_at THEN p.run_at ELSE p.created_at END AS lag
  FROM (
    SELECT j.run_at, j.created_at FROM hanbeon.job AS j
    WHERE @an_execution AND (j.state, j.seq) >= ('pending', 0) AND (j.state, j.seq) < ('pending', 9223372036854775807)
    ORDER BY j.state, j.seq LIMIT $1
  ) AS p
) AS w
