UPDATE hanbeon.queue SET streamed = true WHERE id @in($1 bigint) AND NOT streamed
