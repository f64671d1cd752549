UPDATE hanbeon.dispatch SET epoch = NULL
WHERE epoch IS NOT NULL AND epoch <> $1 AND close_at IS NULL
