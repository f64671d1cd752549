"""Events for subscribers: hints that wake, and the numbered feed that carries the truth."""
