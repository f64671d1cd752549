UPDATE hanbeon.listener SET disabled_at = NULL, failures = 0, failing_since = NULL WHERE id = $1
