UPDATE hanbeon.instance
SET draining_at = CASE WHEN CAST($2 AS boolean) THEN coalesce(draining_at, hanbeon.now()) END
WHERE id = $1 AND stopped_at IS NULL
RETURNING id
