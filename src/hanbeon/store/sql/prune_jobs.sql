DELETE FROM hanbeon.job WHERE seq @in($1 bigint) AND finished_at IS NOT NULL
RETURNING seq, lane, state, started_at, finished_at, hanbeon.now() AS now
