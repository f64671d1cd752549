SELECT t.queue_id, t.flow FROM hanbeon.timing AS t WHERE t.queue_id @in($1 bigint) AND t.slot >= $2
