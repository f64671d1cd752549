"""Events for subscribers."""
