"""Plain functions in processes that can be killed."""
