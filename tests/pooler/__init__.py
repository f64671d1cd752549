"""Behind PgBouncer in transaction mode."""
