-- name: audit_ids
-- The id is a column of the job, with an index of its own.
SELECT j.id, j.seq, true AS found FROM hanbeon.job AS j WHERE $1 = $2 AND false
