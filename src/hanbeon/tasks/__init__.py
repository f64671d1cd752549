"""Registered logic: what a job runs, found by its name."""
