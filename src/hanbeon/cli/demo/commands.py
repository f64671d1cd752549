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
            help="Run on this database; by default on a temporary SQLite file.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Run one release and print its events line by line.")] = False,
) -> None:
    """Watch a worker run a graph of jobs with limits, retries and a timeout. Ctrl-C quits."""
    import logging

    from rich.console import Console

    from hanbeon.cli.demo.runner import show_live, show_once
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.logs import log_to_stderr

    # The view shows what the engine would log, so only errors are logged.
    log_to_stderr(logging.ERROR)
    console = Console()
    live = console.is_terminal and not console.is_dumb_terminal and not once
    succeeded = run(show_live(console, database) if live else show_once(console, database))
    if not succeeded:
        raise typer.Exit(exits.FAILED)
