UPDATE hanbeon.chain AS c
SET state = r.state, operation_direction = r.operation_direction, job_number = r.job_number, context = r.context,
  run = r.run, steps = r.steps, enqueued = r.enqueued, place = r.place, step_job = r.step_job, changed_at = n.now
FROM @rows($1 AS r; id bigint, state text, operation_direction text, job_number integer, context text, run bigint,
  steps integer, enqueued integer, place integer, step_job @uuid) CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE @few(r.id) AND c.id = r.id
