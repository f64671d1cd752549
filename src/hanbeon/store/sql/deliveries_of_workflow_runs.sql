SELECT d.run_id, d.step_index, d.n, d.status, d.attempts, d.unknown, d.fence, d.error_message, d.changed_at
FROM hanbeon.workflow_delivery AS d WHERE d.run_id @in($1 @uuid) ORDER BY d.run_id, d.step_index, d.n
