"""Replays: recordings that users upload, to be exported."""
