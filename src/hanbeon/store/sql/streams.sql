SELECT s.name, s.workers, s.deadletters, s.seen_at, s.failing_since, s.error FROM hanbeon.stream AS s ORDER BY s.name
