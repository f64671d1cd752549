-- The views of docs/views.md by their plain names: SQLite has no schema that would set them apart from the tables of
-- others in the same file. Whatever has such a name already keeps it.
CREATE VIEW IF NOT EXISTS job_queue AS SELECT * FROM hanbeon.job_queue;
CREATE VIEW IF NOT EXISTS job_executions AS SELECT * FROM hanbeon.job_executions;
