"""Schedules: tasks that run by themselves at their times, or by hand, each time as one execution."""
