"""Surfaces: the engine in the words of whoever uses it. A surface translates; it never schedules by itself."""
