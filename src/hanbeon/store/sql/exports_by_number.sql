SELECT e.id AS wire_id, e.uid AS id, e.job_type, e.root, e.folder FROM hanbeon.export AS e WHERE e.id @in($1 bigint)
