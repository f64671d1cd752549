SELECT q.id FROM hanbeon.queue AS q WHERE q.id @in($1 bigint) AND NOT q.paused AND NOT q.limited
