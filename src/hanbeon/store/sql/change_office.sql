UPDATE hanbeon.office
SET name = $2, config = $3, sessions = $4, version = version + 1, changed_at = hanbeon.now()
WHERE id = $1
RETURNING version, changed_at
