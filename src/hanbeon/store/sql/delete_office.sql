DELETE FROM hanbeon.office WHERE id = $1 RETURNING hanbeon.now() AS deleted_at
