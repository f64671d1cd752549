UPDATE hanbeon.unwanted_file SET due_at = (SELECT hanbeon.now()) + $2 WHERE id @in($1 bigint)
