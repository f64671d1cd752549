"""The engine's own surface, for operators: every job of an installation."""
