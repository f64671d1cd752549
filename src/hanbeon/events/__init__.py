"""What happened, told to whoever listens: hints that wake, and the numbered feed that carries the truth."""
