-- Attempts of executions that must run alone, which began before an earlier one of the same task had ended.
WITH ran AS (
  SELECT e.task_id, e.job, j.id, a.attempt, a.started_at, a.ended_at
  FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job JOIN hanbeon.attempt AS a ON a.job = e.job
  WHERE j.unique_key LIKE '%/'
  UNION ALL
  SELECT e.task_id, e.job, j.id, j.fence, j.started_at, 9223372036854775807
  FROM hanbeon.execution AS e JOIN hanbeon.job AS j ON j.seq = e.job
  WHERE j.unique_key LIKE '%/' AND @hidden(j.state) = 'running'
),
attempts AS (
  SELECT r.*, max(r.ended_at) OVER (
    PARTITION BY r.task_id ORDER BY r.started_at, r.job, r.attempt ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS until
  FROM ran AS r
)
SELECT t.id, k.name AS task, t.attempt, t.started_at, t.until FROM attempts AS t
JOIN hanbeon.task AS k ON k.id = t.task_id
WHERE t.started_at < t.until
ORDER BY t.task_id, t.started_at
