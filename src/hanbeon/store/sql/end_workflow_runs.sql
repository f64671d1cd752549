UPDATE hanbeon.workflow_run AS r
SET ended_at = e.ended_at, status = e.status, error_code = e.error_code, error_message = e.error_message,
  changed_at = e.ended_at
FROM @rows($1 AS e; job bigint, ended_at bigint, status text, error_code text, error_message text)
WHERE r.job = e.job
