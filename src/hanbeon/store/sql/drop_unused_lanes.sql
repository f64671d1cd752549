-- Checked again: one that was used in the meantime stays.
DELETE FROM hanbeon.lane WHERE n @in($1 bigint) AND used_at < hanbeon.now() - $2
RETURNING n
