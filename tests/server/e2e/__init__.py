"""Servers as users have them: `hanbeon serve` in processes of their own, with commands as sessions."""
