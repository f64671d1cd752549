DELETE FROM hanbeon.queue_batch WHERE queue_id @in($1 bigint)
