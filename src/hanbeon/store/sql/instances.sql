SELECT i.id, i.name, i.host, i.pid, i.version, i.tasks, i.schedules, i.capacity, i.running, i.started_at, i.seen_at,
  i.stopped_at, (i.draining_at IS NOT NULL) AS draining, (i.stopped_at IS NULL AND i.seen_at > hanbeon.now() - $1) AS alive
FROM hanbeon.instance AS i ORDER BY i.id
