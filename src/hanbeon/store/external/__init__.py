"""Enqueuing inside a caller's own PostgreSQL transaction, through any of the supported drivers."""
