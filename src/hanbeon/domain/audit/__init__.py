"""Consistency checks over the stored records, pure and a page at a time."""
