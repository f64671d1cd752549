INSERT INTO hanbeon.tally AS t (queue_id, state, jobs, ran_us)
SELECT q.id, r.state, r.jobs, r.ran_us
FROM @rows($1 AS r; queue text, state text, jobs bigint, ran_us bigint)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.state
ON CONFLICT (queue_id, state) DO UPDATE SET jobs = t.jobs + excluded.jobs, ran_us = t.ran_us + excluded.ran_us
