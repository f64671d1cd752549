"""Schedules that are changed while many instances fire them: what was in force, what was fired, and whether it fits."""
