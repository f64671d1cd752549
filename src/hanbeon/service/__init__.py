"""Use cases of people and surfaces, over the store."""
