"""The command line: parse, call a service, render. `docs/commands.md` is generated from it."""

from __future__ import annotations


def main() -> None:
    """Entry point of `hanbeon`."""
    # Imported here, so that importing the package costs nothing.
    from hanbeon.cli.program import run_program

    raise SystemExit(run_program())
