"""`hanbeon office`: offices from the command line, on the database itself; no server needs to run."""
