"""The command executor: programs, each in a session of its own."""
