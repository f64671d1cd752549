-- Replays that users uploaded. The file is `file` below `root`. `uid` is made from the request, so that a repeated one
-- finds the row; so is that of an export, which is the id of the engine's job.
CREATE TABLE hanbeon.replay (
  id @identity,
  uid @uuid NOT NULL UNIQUE,
  owner text NOT NULL,
  name text NOT NULL,
  title text NOT NULL,
  root text NOT NULL,
  file text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes > 0),
  checksum text NOT NULL,
  duration_ms bigint NOT NULL CHECK (duration_ms > 0),
  created_at bigint NOT NULL
);
CREATE INDEX hanbeon_replay_owner ON hanbeon.replay (owner, id);
CREATE INDEX hanbeon_replay_created ON hanbeon.replay (created_at);

-- The sum of each user's replays: its row is locked to add one, so that no two pass the quota together.
CREATE TABLE hanbeon.replay_usage (
  owner text PRIMARY KEY,
  bytes bigint NOT NULL CHECK (bytes >= 0)
) @keyed_table;

-- Exports of replays, each with one job of the engine. `folder` below `root` holds the files of its attempts.
CREATE TABLE hanbeon.export (
  id @identity,
  uid @uuid NOT NULL UNIQUE,
  job_type text NOT NULL CHECK (job_type IN (@export_types)),
  owner text NOT NULL,
  replay_id bigint NOT NULL,
  root text NOT NULL,
  folder text NOT NULL,
  options text NOT NULL,
  progress integer NOT NULL CHECK (progress BETWEEN 0 AND 100),
  phase text NOT NULL,
  message text NOT NULL,
  result_uri text,
  result_checksum text,
  created_at bigint NOT NULL
) @hot_table;
CREATE INDEX hanbeon_export_owner ON hanbeon.export (owner, id);
CREATE INDEX hanbeon_export_replay ON hanbeon.export (replay_id);

-- Files to delete: `path` below `root`, a file or a folder of which `kept` stays. A row is written before a file that may
-- remain without an owner, and removed in the transaction that gives it one; so no file is ever without a row. An upload
-- under way holds `reserved` bytes of the quota of its `uploader`.
CREATE TABLE hanbeon.unwanted_file (
  id @identity,
  root text NOT NULL,
  path text NOT NULL,
  kept text NOT NULL,
  due_at bigint NOT NULL,
  uploader text,
  reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0)
);
CREATE INDEX hanbeon_unwanted_file_uploader ON hanbeon.unwanted_file (uploader) WHERE uploader IS NOT NULL;
CREATE INDEX hanbeon_unwanted_file_due ON hanbeon.unwanted_file (due_at);

CREATE VIEW hanbeon.export_jobs AS
SELECT e.id AS job_id, e.job_type, e.owner AS owner_user_id, e.replay_id AS target_replay_id,
  CASE WHEN j.state IN ('pending', 'ready') THEN 'QUEUED' ELSE upper(j.state) END AS status, e.progress, e.phase,
  e.message, @instant(e.created_at) AS created_at, @instant(j.started_at) AS started_at,
  @instant(j.finished_at) AS ended_at,
  CASE WHEN j.state = 'failed' THEN nullif(upper(j.failure_type), '') END AS error_code,
  CASE WHEN j.state = 'failed' THEN j.error_message END AS error_message, e.result_uri, e.result_checksum
FROM hanbeon.export AS e
JOIN hanbeon.job AS j ON @has_id(j; e.uid);
