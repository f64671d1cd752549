"""What happened, told to whoever listens."""
