INSERT INTO hanbeon.stream (name, workers, deadletters, seen_at) VALUES ($1, $2, $3, hanbeon.now())
ON CONFLICT (name) DO UPDATE SET workers = excluded.workers, deadletters = excluded.deadletters,
  seen_at = excluded.seen_at, failing_since = NULL, error = NULL
