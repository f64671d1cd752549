"""Offices: graphs of jobs with slots per office and role, sessions that run them, and bulk moves."""
