"""The synchronous front."""
