UPDATE hanbeon.listener
SET failures = 0, failing_since = NULL, last_success_at = hanbeon.now()
WHERE id = $1
