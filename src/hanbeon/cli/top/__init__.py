"""A live view of a database: its queues, its slots, what runs."""
