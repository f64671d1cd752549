DELETE FROM hanbeon.job WHERE seq @in($1 bigint) AND finished_at IS NOT NULL
