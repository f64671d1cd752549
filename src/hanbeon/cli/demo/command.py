"""`hanbeon demo`"""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli import exits


def demo(
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            help="Run on this database; by default on a new SQLite file that is removed afterwards.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Run one release, print what happens line by line.")] = False,
) -> None:
    """Watch a worker run a graph of jobs: limits, retries, a timeout. Ctrl-C ends it."""
    import logging

    from rich.console import Console

    from hanbeon.cli.demo.show import show_live, show_once
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr

    # The view tells what the engine's log would; what is left is what should not happen.
    log_to_stderr(logging.ERROR)
    console = Console()
    live = console.is_terminal and not console.is_dumb_terminal and not once
    succeeded = run(show_live(console, database) if live else show_once(console, database))
    if not succeeded:
        raise typer.Exit(exits.FAILED)
