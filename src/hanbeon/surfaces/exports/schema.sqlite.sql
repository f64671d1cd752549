-- The views of docs/views.md by their plain names: SQLite has no schema that would set them apart from the tables of
-- others in the same file. Whatever has such a name already keeps it.
CREATE VIEW IF NOT EXISTS export_jobs AS SELECT * FROM hanbeon.export_jobs;
