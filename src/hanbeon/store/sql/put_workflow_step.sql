INSERT INTO hanbeon.workflow_step (run_id, step_index, name, type, status, attempts, unknown, fence, output, error_code,
  error_message, step_job, until, started_at, ended_at)
SELECT r.run_id, r.step_index, r.name, r.type, r.status, r.attempts, r.unknown, r.fence, r.output, r.error_code,
  r.error_message, r.step_job, r.until, r.started_at, r.ended_at
FROM @rows($1 AS r; run_id @uuid, step_index integer, name text, type text, status text, attempts integer,
  unknown integer, fence bigint, output text, error_code text, error_message text, step_job @uuid, until bigint,
  started_at bigint, ended_at bigint)
WHERE true
ON CONFLICT (run_id, step_index) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
  unknown = excluded.unknown, fence = excluded.fence, output = excluded.output, error_code = excluded.error_code,
  error_message = excluded.error_message, step_job = excluded.step_job, until = excluded.until,
  started_at = excluded.started_at, ended_at = excluded.ended_at
