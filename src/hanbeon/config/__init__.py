"""`hanbeon.toml`: tasks, queues, schedules and settings without Python. A file is accepted whole or refused."""
