SELECT t.queue_id, t.state, t.jobs, t.ran_us FROM hanbeon.tally AS t WHERE t.queue_id @in($1 bigint)
