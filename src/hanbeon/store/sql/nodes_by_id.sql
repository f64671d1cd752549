SELECT @node_columns FROM hanbeon.jobs AS v WHERE v.id @in($1 @uuid) ORDER BY v.seq
