SELECT q.id AS queue_id, q.name AS queue, l.n, l.task, l.role, l.concurrency_key
FROM @rows($1 AS r; queue text, task text, role text, concurrency_key text)
JOIN hanbeon.queue AS q ON q.name = r.queue
JOIN hanbeon.lane AS l ON l.queue_id = q.id AND l.task = r.task AND l.role = r.role
  AND l.concurrency_key = r.concurrency_key
