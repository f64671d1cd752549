DELETE FROM hanbeon.office_batch WHERE queue_id @in($1 bigint)
