-- Not through the view: it hides a job whose lane or queue is gone.
SELECT j.seq, j.id, EXISTS (SELECT 1 FROM @job_ids AS i WHERE i.id = j.id AND i.seq = j.seq) AS has_id,
  q.name AS queue, coalesce(l.role, '') AS role, coalesce(l.concurrency_key, '') AS key, j.state,
  coalesce((SELECT u.dependencies FROM hanbeon.unmet AS u WHERE u.job = j.seq), 0) AS unmet, j.blocked, j.recount, j.fence, j.created_at, j.run_at, j.started_at, j.locked_until, j.dispatched_at
FROM hanbeon.job AS j
LEFT JOIN hanbeon.lane AS l ON l.n = (j.lane & 4294967295)
LEFT JOIN hanbeon.queue AS q ON q.id = (j.lane >> 32) AND l.queue_id = q.id
WHERE j.seq > $1
ORDER BY j.seq LIMIT $2
