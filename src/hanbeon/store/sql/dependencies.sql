-- The share lock keeps a dependency from finishing before our edges are written: its completion would not see them.
SELECT j.seq, j.id, j.state, j.lane
FROM hanbeon.job AS j
WHERE @id_in(j; $1)
ORDER BY j.seq
@share
