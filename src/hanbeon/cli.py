"""The command line: parse, call a service, render."""

from __future__ import annotations


def main() -> None:
    """Entry point of `hanbeon`."""
    raise SystemExit("hanbeon: commands arrive with the worker")
