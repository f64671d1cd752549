-- Of the last attempts of these jobs: how many in a row ended without a failure of the work, where those handed back say
-- nothing; and how many in a row were lost before their body began ($2).
SELECT a.job,
  sum(CASE WHEN a.status <> 'released' THEN 1 ELSE 0 END) AS losses,
  sum(CASE WHEN a.message = $2 AND a.attempt > (
    SELECT coalesce(max(c.attempt), 0) FROM hanbeon.past_attempt AS c
    WHERE c.job = a.job AND coalesce(c.message, '') <> $2
  ) THEN 1 ELSE 0 END) AS unbegun
FROM hanbeon.past_attempt AS a
WHERE a.job @in($1 bigint) AND (a.failure_type IN ('lost', 'database_unavailable') OR a.message = $2) AND a.attempt > (
    SELECT coalesce(max(b.attempt), 0) FROM hanbeon.past_attempt AS b
    WHERE b.job = a.job AND b.status <> 'released' AND coalesce(b.failure_type, '') NOT IN ('lost', 'database_unavailable')
  )
GROUP BY a.job
