SELECT b.seq, b.body FROM hanbeon.event_batch AS b WHERE b.seq @in($1 bigint)
