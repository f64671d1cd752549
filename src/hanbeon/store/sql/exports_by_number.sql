SELECT e.id AS wire_id, e.uid AS id FROM hanbeon.export AS e WHERE e.id @in($1 bigint)
