INSERT INTO hanbeon.lane (queue_id, task, role, concurrency_key, used_at)
SELECT q.id, r.task, r.role, r.concurrency_key, hanbeon.now()
FROM @rows($1 AS r; queue text, task text, role text, concurrency_key text)
JOIN hanbeon.queue AS q ON q.name = r.queue
WHERE true
ORDER BY q.id, r.task, r.role, r.concurrency_key
ON CONFLICT (queue_id, task, role, concurrency_key) DO UPDATE SET used_at = excluded.used_at
