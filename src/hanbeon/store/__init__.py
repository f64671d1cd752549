"""The only place that knows SQL: one port, one set of operations, two databases."""
