"""The command line interface: commands parse, call a service and render. `docs/commands.md` is generated from it."""

from __future__ import annotations

import contextlib
import sys


def main() -> None:
    """Entry point of `hanbeon`."""
    from hanbeon.cli.standard_streams import secure_streams, unwritten

    secure_streams()
    # Imported here, so that importing the package costs nothing; the front page does not even need typer.
    try:
        if sys.argv[1:] in (["--help"], ["-h"]):
            from hanbeon.cli.catalogue import front_page

            with contextlib.suppress(OSError):
                print(front_page())
            raise SystemExit(unwritten() or 0)
        from hanbeon.cli.program import run_program

        code = run_program()
    except KeyboardInterrupt:  # Also a second one, after the command has ended for the first.
        code = 130
    raise SystemExit(code)
