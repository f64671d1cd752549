"""`hanbeon schedule`: manages schedules directly in the database; no server is needed."""
