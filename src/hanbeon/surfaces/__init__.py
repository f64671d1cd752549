"""Surfaces: the engine in the vocabulary of a domain. A surface translates; it never schedules by itself."""
