-- The expected tallies. The duration of a success counts as 0 if the clock was set back in the meantime.
SELECT (j.lane >> 32) AS queue_id, j.state, count(*) AS jobs,
  CAST(sum(
    CASE WHEN j.state = 'succeeded' AND j.finished_at > j.started_at THEN j.finished_at - j.started_at ELSE 0 END
  ) AS bigint) AS ran_us
FROM hanbeon.job AS j GROUP BY (j.lane >> 32), j.state
