"""Replays of timed 2-D matches, and their rendering into videos and pictures. See `docs/exports.md`."""
