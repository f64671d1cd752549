"""Push connections: events are sent as they happen, over WebSockets or as server-sent events."""
