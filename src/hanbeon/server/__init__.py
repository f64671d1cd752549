"""The HTTP server: authentication, routing, responses and errors. The surfaces implement the operations."""
