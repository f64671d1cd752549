-- The views of docs/views.md by their plain names: see `store/migrations/sqlite_only.sql`.
CREATE VIEW IF NOT EXISTS job_queue AS SELECT * FROM hanbeon.job_queue;
CREATE VIEW IF NOT EXISTS job_executions AS SELECT * FROM hanbeon.job_executions;
