"""`hanbeon export`: replays and their exports."""
