"""Where a task's body runs."""
