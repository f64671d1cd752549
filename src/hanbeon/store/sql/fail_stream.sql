INSERT INTO hanbeon.stream AS s (name, workers, deadletters, seen_at, failing_since, error)
VALUES ($1, 0, 0, 0, hanbeon.now(), $2)
ON CONFLICT (name) DO UPDATE SET failing_since = coalesce(s.failing_since, excluded.failing_since),
  error = excluded.error
