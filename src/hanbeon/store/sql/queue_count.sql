SELECT count(*) AS queues FROM hanbeon.queue
