-- An office is a queue with a display name and with defaults for its jobs. Its queue's name contains its id. `version`
-- counts its changes.
CREATE TABLE hanbeon.office (
  id @uuid PRIMARY KEY,
  name text NOT NULL,
  -- The values that were set, without defaults: a default may change, and set values take precedence over a role's.
  config text NOT NULL,
  sessions text NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  changed_at bigint NOT NULL
);
-- Finds the office of a queue.
CREATE UNIQUE INDEX hanbeon_office_queue ON hanbeon.office (('office:' || CAST(id AS text)));

-- Listeners of offices: webhooks, which receive events, and notification targets, which receive permanent failures. The
-- messages to one are in a queue whose name contains its id; that of a disabled one is paused. URLs and secrets are
-- stored as given: they are needed for delivery, and never shown.
CREATE TABLE hanbeon.listener (
  id @uuid PRIMARY KEY,
  office_id @uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN (@listener_kinds)),
  position integer NOT NULL,
  url text NOT NULL,
  secret text,
  -- The event types that it subscribes to, as JSON; NULL: all.
  events text,
  -- The last event before its creation.
  since bigint NOT NULL,
  created_at bigint NOT NULL,
  -- The number of failures since the last success, and since when.
  failures integer NOT NULL DEFAULT 0,
  failing_since bigint,
  last_error text,
  last_failure_at bigint,
  last_success_at bigint,
  disabled_at bigint
);
CREATE INDEX hanbeon_listener_office ON hanbeon.listener (office_id, kind, position);
CREATE INDEX hanbeon_listener_since ON hanbeon.listener (since);

-- The event up to which all messages to listeners have been created as jobs.
CREATE TABLE hanbeon.relay (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  relayed_to bigint NOT NULL
);
INSERT INTO hanbeon.relay (only_row, relayed_to) VALUES (1, 0);

-- The jobs of offices in the engine's vocabulary. A queue is found by its number through an expression without an
-- index, and its jobs by the range of their lanes, so that the partial indexes of states are used. @by_queue selects
-- the index of queues instead, and @not_by_index none of these.
CREATE VIEW hanbeon.office_job AS
SELECT j.seq, j.id, o.id AS office_id, q.id AS queue_id, j.lane, j.state, j.urgent, j.priority, l.role, j.work_item,
  @member(j.meta; key) AS key, @member(j.meta; title) AS title, j.retry_count, j.timeout_us, j.progress, j.result,
  j.failure_type, j.error_message, j.created_at, j.started_at, j.deadline_at, j.finished_at, j.fence, j.attempt_status,
  j.meta,
  @ids[
    SELECT d.id FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependency
    WHERE e.dependent = j.seq ORDER BY d.seq
  ] AS depends_on,
  @ids[
    SELECT d.id FROM hanbeon.edge AS e JOIN hanbeon.job AS d ON d.seq = e.dependency
    WHERE e.dependent = j.seq AND j.state = 'pending' AND d.state IN ('failed', 'cancelled') ORDER BY d.seq
  ] AS blocked_by
FROM hanbeon.job AS j @with_id
JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32) + 0 AND j.lane >= (q.id << 32) AND j.lane < ((q.id + 1) << 32)
JOIN hanbeon.office AS o ON @office_of_queue;

CREATE VIEW hanbeon.job_queue AS
SELECT b.id, b.key, b.office_id, b.work_item AS task_id, nullif(b.role, '') AS role, b.title, b.status, b.priority,
  b.urgent, b.depends_on, b.blocked_by, b.retry_count, b.timeout_us / 1000 AS timeout_ms, @json(b.progress) AS progress,
  @json(b.result) AS result, b.error_message, b.failure_type, @instant(b.created_at) AS created_at,
  @instant(b.started_at) AS started_at,
  CASE WHEN b.status <> 'cancelled' THEN @instant(b.finished_at) END AS completed_at,
  CASE WHEN b.status = 'cancelled' THEN @instant(b.finished_at) END AS cancelled_at
FROM (
  SELECT v.*, 'pending' AS status FROM hanbeon.office_job AS v WHERE v.state = 'pending' AND v.meta IS NOT NULL
  UNION ALL
  SELECT v.*, 'ready' FROM hanbeon.office_job AS v WHERE v.state = 'ready' AND v.meta IS NOT NULL
  UNION ALL
  SELECT v.*, CASE WHEN v.deadline_at <= n.now THEN 'timeout' ELSE 'processing' END
  FROM hanbeon.office_job AS v CROSS JOIN (SELECT @readers_now AS now) AS n
  WHERE v.state = 'running' AND v.meta IS NOT NULL
  UNION ALL
  SELECT v.*, 'done' FROM hanbeon.office_job AS v
  WHERE v.state = 'succeeded' AND @by_queue
  UNION ALL
  SELECT v.*, v.state FROM hanbeon.office_job AS v
  WHERE v.state IN ('failed', 'cancelled') AND @by_queue
) AS b;

CREATE VIEW hanbeon.job_executions AS
SELECT @session(b.job_id; b.attempt) AS id, b.job_id, b.attempt, @instant(b.started_at) AS started_at,
  @instant(b.deadline_at) AS timeout_at, @instant(b.ended_at) AS completed_at,
  CAST(@session(b.job_id; b.attempt) AS text) AS session_id, b.status, b.message AS error_message,
  @instant(b.started_at) AS created_at
FROM (
  SELECT v.id AS job_id, a.attempt, a.started_at, a.deadline_at, a.ended_at, a.message,
    CASE a.status WHEN 'lost' THEN 'failed' WHEN 'released' THEN 'cancelled' ELSE a.status END AS status
  FROM hanbeon.past_attempt AS a JOIN hanbeon.office_job AS v ON v.seq = a.job
  WHERE @not_by_index
  UNION ALL
  SELECT v.id, v.fence, v.started_at, v.deadline_at, CAST(NULL AS bigint), CAST(NULL AS text), 'running'
  FROM hanbeon.office_job AS v WHERE v.state = 'running' AND v.meta IS NOT NULL
  UNION ALL
  SELECT v.id, v.fence, v.started_at, v.deadline_at, v.finished_at, v.error_message, 'completed'
  FROM hanbeon.office_job AS v
  WHERE v.state = 'succeeded' AND v.attempt_status IS NOT NULL AND @by_queue
  UNION ALL
  SELECT v.id, v.fence, v.started_at, v.deadline_at, v.finished_at, v.error_message,
    CASE v.attempt_status WHEN 'lost' THEN 'failed' WHEN 'released' THEN 'cancelled' ELSE v.attempt_status END
  FROM hanbeon.office_job AS v
  WHERE v.state IN ('failed', 'cancelled') AND v.attempt_status IS NOT NULL AND @by_queue
) AS b;
