"""`hanbeon.toml`: tasks, queues and settings for those who write no Python. Read whole or refused, place by place."""
