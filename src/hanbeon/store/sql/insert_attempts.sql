INSERT INTO hanbeon.past_attempt (job, attempt, status, instance, started_at, deadline_at, ended_at, failure_type, message)
SELECT r.job, r.attempt, r.status, r.instance, r.started_at, r.deadline_at, r.ended_at, r.failure_type, r.message
FROM @rows($1 AS r; job bigint, attempt bigint, status text, instance bigint, started_at bigint, deadline_at bigint,
  ended_at bigint, failure_type text, message text)
