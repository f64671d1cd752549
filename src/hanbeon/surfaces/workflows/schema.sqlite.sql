-- The views of docs/views.md by their plain names: see `store/migrations/sqlite_only.sql`.
CREATE VIEW IF NOT EXISTS scheduled_jobs AS SELECT * FROM hanbeon.scheduled_jobs;
CREATE VIEW IF NOT EXISTS workflow_run_history AS SELECT * FROM hanbeon.workflow_run_history;
