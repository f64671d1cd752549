"""The store, the only place that knows SQL: one interface, one set of operations, two databases."""
