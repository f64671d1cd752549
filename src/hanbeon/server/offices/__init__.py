"""The routes of offices."""
