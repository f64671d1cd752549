SELECT f.id, f.root, f.path, f.kept FROM hanbeon.unwanted_file AS f
WHERE f.due_at <= (SELECT hanbeon.now()) ORDER BY f.due_at LIMIT $1 @lock_to_delete
