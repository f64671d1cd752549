-- The engine's tables, for both databases: `@words` are replaced per dialect, state names come from the lifecycle.
-- Instants are whole microseconds since 1970 UTC, so that both databases compare and add them alike.

-- Which life of the database this is. A restore from a backup begins another: numbers of events, fences and lanes go
-- back to what they were, so nothing that a process remembers from the life before may be used on it.
CREATE TABLE hanbeon.incarnation (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  id text NOT NULL,
  since bigint NOT NULL
);
INSERT INTO hanbeon.incarnation (only_row, id, since) VALUES (1, @random_id, hanbeon.now());

CREATE TABLE hanbeon.queue (
  id @identity,
  name text NOT NULL UNIQUE,
  paused boolean NOT NULL DEFAULT false,
  limited boolean NOT NULL DEFAULT false,
  -- A job of it was dispatched to stream workers at some time: such jobs take slots, too.
  streamed boolean NOT NULL DEFAULT false,
  limits text NOT NULL DEFAULT '{}',
  -- The limits that a configuration file declared last. They are applied when they change; otherwise operators own
  -- them.
  declared text,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL,
  -- Since when its owner is gone, for a reserved queue. It is deleted once it has no jobs left.
  left_at bigint
);
CREATE INDEX hanbeon_queue_left ON hanbeon.queue (left_at) WHERE left_at IS NOT NULL;

-- Jobs of one lane are interchangeable for claiming. A job carries queue.id << 32 | lane.n as one number, so that one
-- index finds the next lane with ready work, the head of a lane, and every lane of a queue.
CREATE TABLE hanbeon.lane (
  n @identity,
  queue_id bigint NOT NULL,
  task text NOT NULL,
  role text NOT NULL DEFAULT '',
  concurrency_key text NOT NULL DEFAULT '',
  -- Its last use, but for an hour: enqueues in it note that now and then.
  used_at bigint NOT NULL,
  UNIQUE (queue_id, task, role, concurrency_key)
);
CREATE INDEX hanbeon_lane_used ON hanbeon.lane (used_at);
-- For searches. Lanes are few beside jobs, and rarely written.
CREATE INDEX hanbeon_lane_task ON hanbeon.lane (task);
CREATE INDEX hanbeon_lane_role ON hanbeon.lane (role);
CREATE INDEX hanbeon_lane_key ON hanbeon.lane (concurrency_key) WHERE concurrency_key <> '';

CREATE TABLE hanbeon.job (
  seq @identity,
  id @job_uuid,
  lane bigint NOT NULL,
  state text NOT NULL CHECK (state IN (@states)),
  urgent boolean NOT NULL,
  priority integer NOT NULL,
  -- Its order in its lane: urgent jobs first, then the lower priority; then the older, by seq. Written by the
  -- writers of these two: for a generated column PostgreSQL reads the expression again with every row that is updated.
  rank bigint NOT NULL CONSTRAINT hanbeon_job_rank CHECK (rank = @rank(urgent; priority)),
  run_at bigint NOT NULL,
  created_at bigint NOT NULL,
  -- Since when it only waits for a worker, if that is later than run_at: its last dependency succeeded, or an instance
  -- released it.
  free_at bigint,
  started_at bigint,
  deadline_at bigint,
  finished_at bigint,
  stop_requested_at bigint,
  -- Some of its dependencies have not succeeded: `hanbeon.unmet` has their number.
  blocked boolean NOT NULL DEFAULT false,
  -- Created in a long transaction: its dependencies were read before the commit, so their number in `hanbeon.unmet` may
  -- be too high, never too low. Must be recounted.
  recount boolean NOT NULL DEFAULT false,
  on_dependency_failure text NOT NULL CHECK (on_dependency_failure IN (@dependency_policies)),
  retry_count integer NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
  timeout_us bigint CHECK (timeout_us > 0),
  policy text NOT NULL,
  fence bigint NOT NULL DEFAULT 0,
  -- The instance that claimed it last. For a running job, the holder of its lease.
  instance bigint,
  locked_until bigint,
  -- The attempt whose body is known not to have begun, if it is this fence: it waits for a process to start. Most
  -- attempts begin at once and never have this.
  unbegun_fence bigint,
  -- When the last attempt was sent to the stream workers. A ready job that has this has its fence and its slot, and
  -- is not claimed from the database.
  dispatched_at bigint,
  -- How the last attempt ended, if the job ended with it: then this row is the attempt's record, and no other is
  -- written. Most jobs end with their first attempt, so for most this saves a row and an index entry.
  attempt_status text CHECK (attempt_status IN (@attempt_statuses)),
  args text NOT NULL,
  progress text,
  result text,
  failure_type text,
  error_message text,
  idempotency_key text,
  -- Compared byte by byte, so that keys with the same prefix are adjacent in the index.
  unique_key text @bytewise,
  digest text NOT NULL,
  work_item text,
  meta text,
  -- The job that took over its unique key, if that ended it.
  replaced_by @uuid,
  -- Only a running job has a lease.
  CHECK ((state = 'running') = (locked_until IS NOT NULL)),
  CHECK (state <> 'running' OR instance IS NOT NULL),
  CHECK (attempt_status IS NULL OR finished_at IS NOT NULL),
  CHECK ((state IN (@terminal_states)) = (finished_at IS NOT NULL)),
  CHECK (state <> 'ready' OR NOT blocked),
  CHECK (state <> 'pending' OR dispatched_at IS NULL)
) @hot_table;

CREATE INDEX hanbeon_job_ready ON hanbeon.job (lane, rank, seq) WHERE state = 'ready';
-- Running jobs by lane and by expiry of their lease: readers hop from lane to lane.
CREATE INDEX hanbeon_job_running ON hanbeon.job (lane, locked_until) WHERE state = 'running';
-- Jobs that wait for a stream worker.
CREATE INDEX hanbeon_job_dispatched ON hanbeon.job (lane, seq) WHERE state = 'ready' AND dispatched_at IS NOT NULL;
CREATE INDEX hanbeon_job_pending ON hanbeon.job (lane, seq) WHERE state = 'pending';
CREATE INDEX hanbeon_job_due ON hanbeon.job (run_at) WHERE state = 'pending' AND NOT blocked;
-- All jobs of a queue that a surface created: a surface stores its own data in `meta`; other jobs cost nothing.
CREATE INDEX hanbeon_job_of_queue ON hanbeon.job ((lane >> 32), seq) WHERE meta IS NOT NULL;
-- The same for failed and cancelled jobs only.
CREATE INDEX hanbeon_job_unsuccessful ON hanbeon.job (state, (lane >> 32), seq)
  WHERE state IN ('failed', 'cancelled') AND meta IS NOT NULL;
-- Operators look for what failed, among many that did not; only these jobs pay for it.
CREATE INDEX hanbeon_job_failed ON hanbeon.job (state, seq) WHERE state IN ('failed', 'cancelled');
CREATE INDEX hanbeon_job_failure ON hanbeon.job (failure_type, lane, seq) WHERE failure_type IS NOT NULL;
-- The history of each lane, for searches: one entry for each job, when it ends.
CREATE INDEX hanbeon_job_ended ON hanbeon.job (state, lane, seq) WHERE state IN (@terminal_states);
CREATE INDEX hanbeon_job_recount ON hanbeon.job (seq) WHERE recount;
CREATE INDEX hanbeon_job_finished ON hanbeon.job (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX hanbeon_job_work_item ON hanbeon.job (work_item) WHERE work_item IS NOT NULL;
CREATE UNIQUE INDEX hanbeon_job_idempotency ON hanbeon.job (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX hanbeon_job_unique ON hanbeon.job (unique_key)
  WHERE unique_key IS NOT NULL AND state IN (@unfinished_states);
-- Past holders of a unique key, for searches.
CREATE INDEX hanbeon_job_past_unique ON hanbeon.job (unique_key, seq)
  WHERE unique_key IS NOT NULL AND state IN (@terminal_states);
-- Executions by state. Other jobs have no such key, and cost nothing.
CREATE INDEX hanbeon_job_execution ON hanbeon.job (state, seq) WHERE @an_execution;

CREATE TABLE hanbeon.edge (
  dependency bigint NOT NULL,
  dependent bigint NOT NULL,
  PRIMARY KEY (dependency, dependent)
) @keyed_table;
CREATE INDEX hanbeon_edge_dependent ON hanbeon.edge (dependent);

-- How many dependencies of a job have not succeeded; one that never waited for any has no row. Apart from the job,
-- because it is counted down once for almost every edge: here that writes a few bytes and no index entry.
CREATE TABLE hanbeon.unmet (
  job bigint NOT NULL PRIMARY KEY,
  dependencies integer NOT NULL CHECK (dependencies >= 0)
) @keyed_table @hot_table;

-- The requests of stream tasks, one for each attempt until it is over and Redis knows. Without an epoch it is to be
-- sent. From `close_at` on it is to be cleared away; `stop`: its worker is to be told to stop.
CREATE TABLE hanbeon.dispatch (
  n @identity,
  job bigint NOT NULL,
  fence bigint NOT NULL,
  stream text NOT NULL,
  wire_id text NOT NULL,
  body text NOT NULL,
  at bigint NOT NULL,
  epoch text,
  close_at bigint,
  stop boolean NOT NULL DEFAULT false,
  UNIQUE (job, fence)
);
CREATE INDEX hanbeon_dispatch_unsent ON hanbeon.dispatch (n) WHERE epoch IS NULL AND close_at IS NULL;
CREATE INDEX hanbeon_dispatch_closing ON hanbeon.dispatch (close_at) WHERE close_at IS NOT NULL;

-- What instances last saw of a stream in Redis.
CREATE TABLE hanbeon.stream (
  name text NOT NULL PRIMARY KEY,
  -- Workers that have read from it lately.
  workers integer NOT NULL,
  deadletters bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- Since when Redis could not be reached, and why.
  failing_since bigint,
  error text
);

-- Attempts that did not end their job. `hanbeon.attempt` shows all attempts.
CREATE TABLE hanbeon.past_attempt (
  job bigint NOT NULL,
  attempt bigint NOT NULL,
  status text NOT NULL CHECK (status IN (@attempt_statuses)),
  instance bigint,
  started_at bigint NOT NULL,
  deadline_at bigint,
  ended_at bigint NOT NULL,
  failure_type text,
  message text,
  PRIMARY KEY (job, attempt)
);

-- The exceptions by which attempts ended, with their tracebacks. A table of its own: most attempts raise nothing, and the
-- statements that end those stay as they are.
CREATE TABLE hanbeon.attempt_exception (
  job bigint NOT NULL,
  attempt bigint NOT NULL,
  exception text NOT NULL,
  traceback text NOT NULL,
  PRIMARY KEY (job, attempt)
);

-- Moves that a user made by hand and gave a reason for. Rows only of such jobs.
CREATE TABLE hanbeon.hand_move (
  n @identity,
  job bigint NOT NULL,
  at bigint NOT NULL,
  reason text NOT NULL,
  user_name text,
  comment text,
  changes text
);
CREATE INDEX hanbeon_hand_move_job ON hanbeon.hand_move (job);

-- The output of attempts, several lines per row, written while they run. Lines are numbered within an attempt; a gap
-- between the numbers of two rows means that the lines between them were cut.
CREATE TABLE hanbeon.log (
  job bigint NOT NULL,
  attempt bigint NOT NULL,
  n integer NOT NULL,
  first_line bigint NOT NULL,
  lines integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (job, attempt, n)
);

-- Who caused a job, as W3C Trace Context: "traceparent tracestate". A table of its own, because nearly all jobs have
-- none: the statements that create and claim jobs stay as they are while tracing is off.
CREATE TABLE hanbeon.trace (
  job bigint PRIMARY KEY,
  context text NOT NULL
);

-- The instants by which jobs must have ended: apart from them, because most have none. `open`: it is still to be looked
-- at. `fence`: the attempt that was stopped then.
CREATE TABLE hanbeon.expiry (
  job bigint PRIMARY KEY,
  at bigint NOT NULL,
  open boolean NOT NULL DEFAULT true,
  fence bigint
);
CREATE INDEX hanbeon_expiry_open ON hanbeon.expiry (at) WHERE open;

-- Events are written in batches by the transactions that move jobs, and numbered in commit order afterwards: event
-- number k of a batch is first_id + k. `seq` is only the storage order; it is not commit order and never shown. `delta`
-- is the change of the tallies of each queue that the events belong to.
CREATE TABLE hanbeon.event_batch (
  seq @identity,
  at bigint NOT NULL,
  count integer NOT NULL CHECK (count > 0),
  first_id bigint,
  body text NOT NULL,
  delta text
);
@plain_event_bodies
CREATE INDEX hanbeon_event_unnumbered ON hanbeon.event_batch (seq) WHERE first_id IS NULL;
CREATE UNIQUE INDEX hanbeon_event_number ON hanbeon.event_batch (first_id) WHERE first_id IS NOT NULL;
CREATE INDEX hanbeon_event_at ON hanbeon.event_batch (at);

-- The batches with events of each indexed queue: a reader of one queue skips the batches of all others. Written by the
-- fold, so that it is complete up to event number `folded_to` and costs nothing where jobs are moved.
CREATE TABLE hanbeon.queue_batch (
  queue_id bigint NOT NULL,
  first_id bigint NOT NULL,
  PRIMARY KEY (queue_id, first_id)
);

CREATE TABLE hanbeon.event_counter (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  last_id bigint NOT NULL
);
INSERT INTO hanbeon.event_counter (only_row, last_id) VALUES (1, 0);

-- The sums of all deltas up to event number `folded_to`. Only the holder of the single row of `fold` touches them, so
-- no transaction that moves jobs ever waits for them.
CREATE TABLE hanbeon.tally (
  queue_id bigint NOT NULL,
  state text NOT NULL CHECK (state IN (@states)),
  jobs bigint NOT NULL,
  ran_us bigint NOT NULL,
  PRIMARY KEY (queue_id, state)
) @hot_table;

-- The flow of a queue in the minute from `slot` on; after a day, in the five minutes.
CREATE TABLE hanbeon.timing (
  queue_id bigint NOT NULL,
  slot bigint NOT NULL,
  flow text NOT NULL,
  PRIMARY KEY (queue_id, slot)
) @hot_table;
CREATE INDEX hanbeon_timing_slot ON hanbeon.timing (slot);

CREATE TABLE hanbeon.fold (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  folded_to bigint NOT NULL,
  folded_at bigint NOT NULL
) @hot_table;
INSERT INTO hanbeon.fold (only_row, folded_to, folded_at) VALUES (1, 0, 0);

-- Numbered by the clock: a number is never used again, not even on a database that was restored from a backup.
CREATE TABLE hanbeon.instance (
  id bigint NOT NULL PRIMARY KEY,
  name text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  version text NOT NULL,
  tasks text NOT NULL,
  schedules text NOT NULL,
  capacity integer NOT NULL,
  running integer NOT NULL DEFAULT 0,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  stopped_at bigint,
  -- Since when it claims nothing more, because an operator said so.
  draining_at bigint,
  -- Since when a body has blocked its event loop, and the job of that body, if it is known.
  blocked_since bigint,
  blocked_by bigint
);
CREATE INDEX hanbeon_instance_seen ON hanbeon.instance (seen_at);

-- Counters of all instances. Each transaction adds a row of its own, so that none waits for another; now and then the
-- rows of a counter are merged into one.
CREATE TABLE hanbeon.total (
  seq @identity,
  name text NOT NULL,
  value bigint NOT NULL
);

-- Jobs that ended and fires recorded before this instant may have been pruned.
CREATE TABLE hanbeon.pruned (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  before bigint NOT NULL
);
INSERT INTO hanbeon.pruned (only_row, before) VALUES (1, 0);

-- The clock as the instances have seen it: retention ignores a jump ahead for a day.
CREATE TABLE hanbeon.clock (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  trusted_at bigint NOT NULL,
  steady_since bigint NOT NULL,
  seen_at bigint NOT NULL
);
INSERT INTO hanbeon.clock (only_row, trusted_at, steady_since, seen_at) VALUES (1, 0, 0, 0);

-- API tokens. Only the hash of a token is stored, which reveals nothing: a token has 256 random bits. Rows stay when a
-- token is revoked: a server is open to its own machine only while there never was a token.
CREATE TABLE hanbeon.token (
  id @identity,
  hash text NOT NULL UNIQUE,
  user_name text NOT NULL,
  scope text NOT NULL CHECK (scope IN (@scopes)),
  created_at bigint NOT NULL,
  last_used_at bigint,
  revoked_at bigint,
  -- The id made from a request with an Idempotency-Key, by which a repeat finds out that the token exists.
  request text UNIQUE
);

-- Logins of browsers: each ends with its time, by logging out, or with the token that it was made with. Only the hash of
-- the cookie is stored. `token` is null for a JWT.
CREATE TABLE hanbeon.login (
  hash text PRIMARY KEY,
  user_name text NOT NULL,
  scope text NOT NULL CHECK (scope IN (@scopes)),
  token bigint REFERENCES hanbeon.token (id),
  expires_at bigint NOT NULL
);
CREATE INDEX login_expiry ON hanbeon.login (expires_at);
CREATE INDEX login_user ON hanbeon.login (user_name, expires_at);

-- Who did what, one row for each request or command that changed something. `count`: jobs that it moved or created.
CREATE TABLE hanbeon.action (
  seq @identity,
  id @uuid NOT NULL UNIQUE,
  at bigint NOT NULL,
  user_name text NOT NULL,
  via text NOT NULL,
  action text NOT NULL,
  target text,
  count bigint NOT NULL
);
CREATE INDEX hanbeon_action_at ON hanbeon.action (at);
CREATE INDEX hanbeon_action_user ON hanbeon.action (user_name, seq);

-- Responses to requests with an Idempotency-Key. Without a response it is running, or its outcome is unknown.
CREATE TABLE hanbeon.answer (
  user_name text NOT NULL,
  key text NOT NULL,
  digest text NOT NULL,
  -- The seed of generated ids, so that a repetition after an unknown outcome generates the same ids.
  seed text NOT NULL,
  created_at bigint NOT NULL,
  -- The server that runs it, and since when; none if that server gave up without an outcome.
  holder text,
  held_at bigint NOT NULL,
  status integer,
  headers text,
  body text,
  PRIMARY KEY (user_name, key)
);
CREATE INDEX hanbeon_answer_created ON hanbeon.answer (created_at);

-- Registered tasks: a client that schedules or runs one need not have its code. `settings` apply to its jobs.
CREATE TABLE hanbeon.task (
  id @identity,
  name text NOT NULL UNIQUE,
  settings text NOT NULL,
  registered_by text NOT NULL,
  first_registered_at bigint NOT NULL,
  registered_at bigint NOT NULL
);

-- The jobs that are executions of tasks, and their causes. `scheduled_at` is the time of the fire or of the request.
CREATE TABLE hanbeon.execution (
  job bigint PRIMARY KEY,
  task_id bigint NOT NULL,
  type text NOT NULL CHECK (type IN (@execution_types)),
  schedule_id @uuid,
  scheduled_at bigint NOT NULL,
  requested_by text
);
CREATE INDEX hanbeon_execution_task ON hanbeon.execution (task_id, job);
CREATE INDEX hanbeon_execution_schedule ON hanbeon.execution (schedule_id, job) WHERE schedule_id IS NOT NULL;
CREATE INDEX hanbeon_execution_manual ON hanbeon.execution (job) WHERE type = 'MANUAL';

CREATE VIEW hanbeon.jobs AS
SELECT j.seq, j.id, q.name AS queue, l.task, l.role, l.concurrency_key, j.state, j.args, j.priority, j.urgent, j.run_at,
  j.created_at, j.started_at, j.deadline_at, j.finished_at, j.stop_requested_at,
  CASE WHEN j.blocked THEN (SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq) ELSE 0 END AS unmet,
  j.on_dependency_failure,
  j.retry_count, j.timeout_us, j.policy, j.fence, j.dispatched_at,
  CASE WHEN j.state = 'running' THEN j.instance END AS locked_by, j.locked_until, j.progress, j.result, j.failure_type,
  j.error_message, j.idempotency_key, j.unique_key, j.work_item, j.meta, j.replaced_by,
  (SELECT x.at FROM hanbeon.expiry AS x WHERE x.job = j.seq) AS expires_at,
  (SELECT x.fence FROM hanbeon.expiry AS x WHERE x.job = j.seq) AS expired_fence
FROM hanbeon.job AS j @with_id
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32);

CREATE VIEW hanbeon.attempt AS
SELECT a.job, a.attempt, a.status, a.instance, a.started_at, a.deadline_at, a.ended_at, a.failure_type, a.message
FROM hanbeon.past_attempt AS a
UNION ALL
SELECT j.seq, j.fence, j.attempt_status, j.instance, j.started_at, j.deadline_at, j.finished_at, j.failure_type,
  j.error_message
FROM hanbeon.job AS j
WHERE j.attempt_status IS NOT NULL;

-- Views for people with a SQL prompt, in the vocabulary of the surfaces: docs/views.md. One branch for each status that
-- has an index of its own, so that a condition on the status excludes the others. On SQLite they use no custom function
-- and no recent operator: users open the file with a library of their own, and a single view that it cannot parse would
-- hide all tables from them.

-- The executions of tasks in the engine's vocabulary.
CREATE VIEW hanbeon.task_execution AS
SELECT j.id AS execution_id, t.name AS task_id, e.type, e.schedule_id, e.scheduled_at, j.created_at, j.started_at,
  j.finished_at, j.retry_count, i.name AS instance, j.locked_until, j.state, j.failure_type, j.error_message,
  j.progress, j.result, e.requested_by
FROM hanbeon.execution AS e
JOIN hanbeon.task AS t ON t.id = e.task_id
JOIN hanbeon.job AS j ON j.seq = e.job @with_id
LEFT JOIN hanbeon.instance AS i ON i.id = j.instance
WHERE @an_execution;

CREATE VIEW hanbeon.executions AS
SELECT b.execution_id, b.task_id, b.type, b.status, b.schedule_id, @instant(b.scheduled_at) AS scheduled_at,
  @instant(b.created_at) AS created_at, @instant(b.started_at) AS started_at, @instant(b.finished_at) AS ended_at,
  b.retry_count, b.instance, @instant(b.locked_until) AS locked_until,
  CASE b.state WHEN 'cancelled' THEN 'CANCELLED' WHEN 'failed' THEN nullif(upper(b.failure_type), '') END AS error_code,
  b.error_message, @json(b.progress) AS progress, @json(b.result) AS result, b.requested_by
FROM (
  SELECT v.*, 'PENDING' AS status FROM hanbeon.task_execution AS v WHERE v.state IN ('pending', 'ready')
  UNION ALL
  SELECT v.*, 'RUNNING' FROM hanbeon.task_execution AS v WHERE v.state = 'running'
  UNION ALL
  SELECT v.*, 'SUCCESS' FROM hanbeon.task_execution AS v WHERE v.state = 'succeeded'
  UNION ALL
  SELECT v.*, 'FAILED' FROM hanbeon.task_execution AS v WHERE v.state IN ('failed', 'cancelled')
) AS b;
