"""Fast paths for common cases; the general path defines the behaviour."""
