-- Workflows: ordered steps, and when they run. A run is a job of the engine; `run_id` is the registered one that has not
-- ended, at `next_time`. `spent`: the run of a mode that runs once per activation has ended.
CREATE TABLE hanbeon.workflow (
  seq @identity,
  id @uuid NOT NULL UNIQUE,
  name text NOT NULL,
  -- Steps, variables and whom a failed run notifies, as given: targets may contain secrets, and are masked when shown.
  definition text NOT NULL,
  -- The same without secrets.
  shown text NOT NULL,
  schedule_config text NOT NULL,
  timezone text NOT NULL,
  status text NOT NULL CHECK (status IN (@workflow_statuses)),
  activation bigint NOT NULL,
  activated_at bigint,
  spent boolean NOT NULL,
  run_id @uuid,
  next_time bigint,
  -- The time of the last run that was registered and has ended: the next one is later.
  last_time bigint,
  -- The name and the text of a declaration in a file. It is applied when it changes; otherwise users own the workflow.
  declared_name text,
  declared text,
  version bigint NOT NULL,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- The row stays as long as its runs, and that of a declared one, so that the same declaration does not recreate it.
  deleted_at bigint
);
CREATE UNIQUE INDEX hanbeon_workflow_run_id ON hanbeon.workflow (run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX hanbeon_workflow_declared ON hanbeon.workflow (declared_name) WHERE declared_name IS NOT NULL;
CREATE INDEX hanbeon_workflow_status ON hanbeon.workflow (status, seq) WHERE deleted_at IS NULL;

-- Runs of workflows; `job` is the engine's. `definition` is the workflow as it was when the run started, and
-- `workflow_data` the same without secrets.
CREATE TABLE hanbeon.workflow_run (
  job bigint PRIMARY KEY,
  run_id @uuid NOT NULL UNIQUE,
  workflow_id @uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN (@run_kinds)),
  scheduled_time bigint NOT NULL,
  variables text NOT NULL,
  requested_by text,
  definition text,
  workflow_data text,
  -- When its next step is to begin: the run's own time, the end of a wait, the time of a retry.
  due_at bigint NOT NULL,
  executed_at bigint,
  ended_at bigint,
  status text CHECK (status IN (@run_ends)),
  error_code text,
  error_message text,
  retry_count integer NOT NULL,
  late boolean NOT NULL,
  -- The times of the workflow that fell due meanwhile and were skipped.
  skipped text,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  CHECK ((status IS NULL) = (ended_at IS NULL))
);
CREATE INDEX hanbeon_workflow_run_of ON hanbeon.workflow_run (workflow_id, job);
CREATE INDEX hanbeon_workflow_run_due ON hanbeon.workflow_run (due_at) WHERE ended_at IS NULL;
CREATE INDEX hanbeon_workflow_run_failed ON hanbeon.workflow_run (ended_at) WHERE status = 'failed';

-- Steps that have begun. `fence` is the attempt that wrote the row: a step that runs under an older one was cut off.
CREATE TABLE hanbeon.workflow_step (
  run_id @uuid NOT NULL,
  step_index integer NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN (@step_types)),
  status text NOT NULL CHECK (status IN (@step_statuses)),
  attempts integer NOT NULL,
  -- How many attempts were cut off: nobody knows what became of them.
  unknown integer NOT NULL,
  fence bigint NOT NULL,
  output text,
  error_code text,
  error_message text,
  -- The job that a task step waits for, or the end of a wait.
  step_job @uuid,
  until bigint,
  started_at bigint NOT NULL,
  ended_at bigint,
  PRIMARY KEY (run_id, step_index)
);
CREATE INDEX hanbeon_workflow_step_job ON hanbeon.workflow_step (step_job) WHERE step_job IS NOT NULL;

-- The messages of a step, one for each recipient.
CREATE TABLE hanbeon.workflow_delivery (
  run_id @uuid NOT NULL,
  step_index integer NOT NULL,
  n integer NOT NULL,
  status text NOT NULL CHECK (status IN (@delivery_statuses)),
  attempts integer NOT NULL,
  unknown integer NOT NULL,
  fence bigint NOT NULL,
  error_message text,
  changed_at bigint NOT NULL,
  PRIMARY KEY (run_id, step_index, n)
) @keyed_table;

-- The runs of workflows. A run in a wait, and one whose step will be tried again, is pending.
CREATE VIEW hanbeon.scheduled_jobs AS
SELECT r.run_id AS id, r.workflow_id, @json(coalesce(r.workflow_data, w.shown)) AS workflow_data,
  @instant(r.scheduled_time) AS scheduled_time,
  CASE j.state WHEN 'pending' THEN 'pending' WHEN 'ready' THEN 'pending' WHEN 'running' THEN 'running'
    WHEN 'succeeded' THEN 'completed' ELSE 'failed' END AS status,
  @instant(r.created_at) AS created_at, @instant(r.changed_at) AS updated_at, @instant(r.executed_at) AS executed_at,
  r.retry_count, r.error_message
FROM hanbeon.workflow_run AS r
JOIN hanbeon.job AS j ON j.seq = r.job
LEFT JOIN hanbeon.workflow AS w ON w.id = r.workflow_id;

CREATE VIEW hanbeon.workflow_run_history AS
SELECT CAST(s.run_id AS text) || '/' || s.step_index AS id, s.run_id, r.workflow_id, s.step_index, s.type AS step_type,
  s.status, s.attempts, @instant(s.started_at) AS started_at, @instant(s.ended_at) AS ended_at,
  @json(s.output) AS output, s.error_message
FROM hanbeon.workflow_step AS s
JOIN hanbeon.workflow_run AS r ON r.run_id = s.run_id;
