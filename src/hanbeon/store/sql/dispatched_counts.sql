-- How many requests of each stream wait for a worker.
SELECT d.stream, count(*) AS waiting
FROM hanbeon.job AS j JOIN hanbeon.dispatch AS d ON d.job = j.seq AND d.fence = j.fence
WHERE j.state = 'ready' AND j.dispatched_at IS NOT NULL
GROUP BY d.stream
