"""Exports of replays: their kinds, their jobs of the engine, and their events."""
