"""The read-only views for people with a SQL prompt."""
