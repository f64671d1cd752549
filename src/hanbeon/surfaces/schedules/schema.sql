-- Schedules of tasks. All fires up to `considered_to` have been decided, so nothing fires at or before it.
CREATE TABLE hanbeon.schedule (
  id @uuid PRIMARY KEY,
  name text,
  task_id bigint NOT NULL,
  definition text NOT NULL,
  paused boolean NOT NULL,
  considered_to bigint NOT NULL,
  -- Since when the times of this definition apply.
  timed_since bigint NOT NULL,
  next_fire_at bigint,
  -- When to process it: its next fire plus jitter. NULL while it is paused and after its last fire.
  due_at bigint,
  last_fire_at bigint,
  -- Fires that wait until the task is free, as a list; NULL for none.
  waiting text,
  -- The last declaration by code or a file. It is applied when it changes; otherwise operators own the schedule.
  declared text,
  -- A declared schedule that an operator deleted: the row stays, so that the same declaration does not recreate it.
  deleted_at bigint,
  version bigint NOT NULL DEFAULT 1,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL
);
-- Every fire rewrites all index entries of its schedule: unnamed ones have none here.
CREATE UNIQUE INDEX hanbeon_schedule_name ON hanbeon.schedule (name) WHERE name IS NOT NULL;
CREATE INDEX hanbeon_schedule_due ON hanbeon.schedule (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX hanbeon_schedule_waiting ON hanbeon.schedule (id) WHERE waiting IS NOT NULL;
CREATE INDEX hanbeon_schedule_task ON hanbeon.schedule (task_id, id);
CREATE INDEX hanbeon_schedule_paused ON hanbeon.schedule (id) WHERE paused AND deleted_at IS NULL;
CREATE INDEX hanbeon_schedule_declared ON hanbeon.schedule (id) WHERE declared IS NOT NULL;

-- The outcome of each fire. `more`: the (minimum) number of later fires, up to the next row, that share this row.
CREATE TABLE hanbeon.fire (
  schedule_id @uuid NOT NULL,
  fire_at bigint NOT NULL,
  outcome text NOT NULL CHECK (outcome IN (@fire_outcomes)),
  reason text,
  execution_id @uuid,
  more bigint NOT NULL DEFAULT 0,
  recorded_at bigint NOT NULL,
  PRIMARY KEY (schedule_id, fire_at)
);
CREATE INDEX hanbeon_fire_recorded ON hanbeon.fire (recorded_at);

CREATE VIEW hanbeon.schedules AS
SELECT s.id, s.name, t.name AS task_id, @member(s.definition; timing.cron) AS cron,
  CAST(@member(s.definition; timing.every_us) AS double precision) / 1000000 AS every,
  @instant(CAST(@member(s.definition; timing.run_at) AS bigint)) AS run_at,
  @member(s.definition; timing.timezone) AS timezone,
  @json(coalesce(@member(s.definition; args), '{}')) AS args,
  coalesce(@member(s.definition; overlap), '@default_overlap') AS overlap,
  coalesce(@member(s.definition; misfire), '@default_misfire') AS misfire,
  coalesce(CAST(@member(s.definition; misfire_limit) AS bigint), @default_misfire_limit) AS misfire_limit,
  CAST(@member(s.definition; timing.jitter_us) AS double precision) / 1000000 AS jitter,
  @instant(CAST(@member(s.definition; timing.starts_at) AS bigint)) AS starts_at,
  @instant(CAST(@member(s.definition; timing.ends_at) AS bigint)) AS ends_at,
  @member(s.definition; timing.gap) AS dst_gap, @member(s.definition; timing.fold) AS dst_fold, s.paused,
  @instant(s.next_fire_at) AS next_fire_at, @instant(s.last_fire_at) AS last_fire_at,
  s.declared IS NOT NULL AS declared, s.version, s.created_by, @instant(s.created_at) AS created_at, @instant(s.changed_at) AS changed_at
FROM hanbeon.schedule AS s
JOIN hanbeon.task AS t ON t.id = s.task_id
WHERE s.deleted_at IS NULL;
