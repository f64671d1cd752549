-- Copies the last attempt of these jobs out of their rows, which are locked: the jobs run again.
INSERT INTO hanbeon.past_attempt (job, attempt, status, instance, started_at, deadline_at, ended_at, failure_type, message)
SELECT j.seq, j.fence, j.attempt_status, j.instance, j.started_at, j.deadline_at, j.finished_at, j.failure_type,
  j.error_message
FROM hanbeon.job AS j
WHERE j.seq @in($1 bigint) AND j.attempt_status IS NOT NULL
