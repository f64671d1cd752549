"""Use cases: what people and surfaces ask, over the store."""
