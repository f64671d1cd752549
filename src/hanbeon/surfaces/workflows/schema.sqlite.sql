-- The views of docs/views.md by their plain names: SQLite has no schema that would set them apart from the tables of
-- others in the same file. Whatever has such a name already keeps it.
CREATE VIEW IF NOT EXISTS scheduled_jobs AS SELECT * FROM hanbeon.scheduled_jobs;
CREATE VIEW IF NOT EXISTS workflow_run_history AS SELECT * FROM hanbeon.workflow_run_history;
