"""`hanbeon schedule`: its commands, and what they share."""
