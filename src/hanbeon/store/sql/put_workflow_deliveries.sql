INSERT INTO hanbeon.workflow_delivery (run_id, step_index, n, status, attempts, unknown, fence, error_message,
  changed_at)
SELECT r.run_id, r.step_index, r.n, r.status, r.attempts, r.unknown, r.fence, r.error_message, r.changed_at
FROM @rows($1 AS r; run_id @uuid, step_index integer, n integer, status text, attempts integer, unknown integer,
  fence bigint, error_message text, changed_at bigint)
WHERE true
ON CONFLICT (run_id, step_index, n) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
  unknown = excluded.unknown, fence = excluded.fence, error_message = excluded.error_message,
  changed_at = excluded.changed_at
