"""`hanbeon demo`: a small office of agents that ships one release after another."""
