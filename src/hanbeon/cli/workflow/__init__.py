"""`hanbeon workflow`: workflows, their runs, and what a cron calls."""
