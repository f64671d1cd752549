"""`hanbeon top`: a live view of a database's queues, slots and running jobs."""
