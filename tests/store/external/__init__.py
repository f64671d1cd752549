"""The caller's own transaction, through every driver."""
