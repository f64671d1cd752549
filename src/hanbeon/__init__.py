"""Hanbeon: a durable job scheduler."""
