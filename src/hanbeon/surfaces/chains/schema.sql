-- Chains of jobs with a forward and a backward operation each. `uid` is made from the request that created the row, so
-- that a repeated request finds it; so are those of the jobs and runs below.
CREATE TABLE hanbeon.chain (
  id @identity,
  uid @uuid NOT NULL UNIQUE,
  queue_library text NOT NULL,
  state text NOT NULL CHECK (state IN (@chain_states)),
  operation_direction text NOT NULL CHECK (operation_direction IN (@chain_directions)),
  retries integer NOT NULL CHECK (retries >= 0),
  on_unknown text NOT NULL CHECK (on_unknown IN (@chain_unknowns)),
  on_backward_failure text NOT NULL CHECK (on_backward_failure IN (@chain_backward_failures)),
  job_number integer NOT NULL,
  context text NOT NULL,
  -- The number of the last run, and of the steps that it has recorded.
  run bigint NOT NULL,
  steps integer NOT NULL,
  -- The operations of this run that became jobs of the engine, which makes the ids of those jobs.
  enqueued integer NOT NULL,
  -- The place of the job whose operation is under way or blocked, and the engine's job that runs it.
  place integer,
  step_job @uuid,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  CHECK ((state IN ('RUNNING', 'BLOCKED')) = (place IS NOT NULL)),
  CHECK ((state = 'RUNNING') = (step_job IS NOT NULL))
) @hot_table;
CREATE UNIQUE INDEX hanbeon_chain_step_job ON hanbeon.chain (step_job) WHERE step_job IS NOT NULL;
CREATE INDEX hanbeon_chain_state ON hanbeon.chain (state, id);

-- The jobs of chains, in the order of `place`, with the states and returns of the last run.
CREATE TABLE hanbeon.chain_job (
  id @identity,
  uid @uuid NOT NULL UNIQUE,
  chain_id bigint NOT NULL,
  place integer NOT NULL,
  forward_operation text NOT NULL,
  backward_operation text NOT NULL,
  arguments text NOT NULL,
  operation_library text NOT NULL,
  expired_us bigint NOT NULL CHECK (expired_us > 0),
  state text NOT NULL,
  -- An object with the members forward and backward; NULL until one of them has run.
  job_return text,
  UNIQUE (chain_id, place)
) @hot_table;

CREATE TABLE hanbeon.chain_run (
  chain_id bigint NOT NULL,
  n bigint NOT NULL,
  uid @uuid NOT NULL UNIQUE,
  started_by text NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint,
  -- How many jobs the chain had: later ones are no part of this run.
  job_number integer NOT NULL,
  -- The direction in which it ended.
  operation_direction text,
  PRIMARY KEY (chain_id, n)
);
CREATE INDEX hanbeon_chain_run_ended ON hanbeon.chain_run (ended_at) WHERE ended_at IS NOT NULL;

-- The operations that have ended, in the order of running: `queue_return` of a run.
CREATE TABLE hanbeon.chain_step (
  chain_id bigint NOT NULL,
  run bigint NOT NULL,
  n integer NOT NULL,
  job_id bigint NOT NULL,
  direction text NOT NULL,
  state text NOT NULL,
  returned text NOT NULL,
  -- The engine's job, if one ran it.
  step_job @uuid,
  started_at bigint,
  ended_at bigint NOT NULL,
  PRIMARY KEY (chain_id, run, n)
);
