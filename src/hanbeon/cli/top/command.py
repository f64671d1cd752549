"""`hanbeon top`"""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.options import Database, Json

_SHORTEST = 0.1


def top(
    database: Database = None,
    every: Annotated[str, typer.Option(metavar="SPAN", help="How often to look.")] = "1s",
    once: Annotated[
        bool, typer.Option("--once", help="Print one frame; so it does where there is no terminal.")
    ] = False,
    json: Json = False,
) -> None:
    """Watch a database: queues, slots, running jobs with their progress and age, throughput. q or Ctrl-C ends it."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import console
    from hanbeon.cli.top.show import print_frame, show_live
    from hanbeon.clock import seconds_of
    from hanbeon.errors import InvalidInput

    seconds = seconds_of(every, "every")
    if seconds < _SHORTEST:
        raise InvalidInput(f"{every} is too often; use at least 100ms", field="every")
    out = console()
    if once or json or not out.is_terminal or out.is_dumb_terminal:
        run(print_frame(out, database, json=json))
    else:
        run(show_live(out, database, seconds))
