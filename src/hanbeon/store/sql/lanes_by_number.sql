SELECT l.n, q.name AS queue, l.task, l.role, l.concurrency_key
FROM hanbeon.lane AS l JOIN hanbeon.queue AS q ON q.id = l.queue_id
WHERE l.n @in($1 bigint)
