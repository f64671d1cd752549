SELECT @node_columns FROM hanbeon.jobs AS v WHERE @id_in(v; $1) ORDER BY v.seq
