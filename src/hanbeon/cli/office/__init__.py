"""`hanbeon office`: manages offices directly in the database; no server is needed."""
