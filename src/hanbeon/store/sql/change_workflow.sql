UPDATE hanbeon.workflow AS w
SET name = r.name, definition = r.definition, shown = r.shown, schedule_config = r.schedule_config,
  timezone = r.timezone, status = r.status, activation = r.activation, activated_at = r.activated_at,
  spent = r.spent, run_id = r.run_id, next_time = r.next_time, last_time = r.last_time,
  declared_name = r.declared_name, declared = r.declared, version = r.version, changed_at = n.now,
  deleted_at = r.deleted_at
FROM @rows($1 AS r; id @uuid, name text, definition text, shown text, schedule_config text, timezone text, status text,
  activation bigint, activated_at bigint, spent boolean, run_id @uuid, next_time bigint, last_time bigint,
  declared_name text, declared text, version bigint, deleted_at bigint)
  CROSS JOIN (SELECT hanbeon.now() AS now) AS n
WHERE w.id = r.id
