"""The routes of tasks, executions and schedules."""
