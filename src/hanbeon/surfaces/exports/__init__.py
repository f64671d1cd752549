"""Exports: replays rendered to videos and thumbnails, with progress and downloads."""
