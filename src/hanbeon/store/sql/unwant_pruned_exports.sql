INSERT INTO hanbeon.unwanted_file (root, path, kept, due_at)
SELECT e.root, e.folder, '', hanbeon.now()
FROM hanbeon.export AS e JOIN hanbeon.job AS j ON @has_id(j; e.uid) WHERE j.seq @in($1 bigint)
