"""Bodies that are calls of somebody else's server."""
