DELETE FROM hanbeon.unwanted_file WHERE id @in($1 bigint) RETURNING id
