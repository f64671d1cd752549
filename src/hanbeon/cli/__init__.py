"""The command line interface: commands parse, call a service and render. `docs/commands.md` is generated from it."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `hanbeon`."""
    # Imported here, so that importing the package costs nothing; the front page does not even need typer.
    try:
        if sys.argv[1:] in (["--help"], ["-h"]):
            from hanbeon.cli.catalogue import front_page

            print(front_page())
            raise SystemExit(0)
        from hanbeon.cli.program import run_program
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    raise SystemExit(run_program())
