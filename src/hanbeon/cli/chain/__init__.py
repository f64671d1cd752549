"""`hanbeon chain`: chains of operations that are undone in reverse."""
