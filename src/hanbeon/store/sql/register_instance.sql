INSERT INTO hanbeon.instance (name, host, pid, version, tasks, capacity, schedules, started_at, seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, hanbeon.now(), hanbeon.now())
RETURNING id
