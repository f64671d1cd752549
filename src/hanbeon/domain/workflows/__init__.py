"""Workflows, pure: definitions, times, checks, and the order of steps."""
