"""The caller's own transaction on PostgreSQL, through whichever driver it came: jobs are written inside it."""
