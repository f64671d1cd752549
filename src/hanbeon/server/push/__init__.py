"""Connections that stay open: what happens is sent to them as it happens, by WebSocket or as a stream of events."""
