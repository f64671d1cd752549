"""`hanbeon top`"""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.options import Database, Json
from hanbeon.quotation import quoted
from hanbeon.rule import Rule

_MIN_SECONDS = 0.1


def top(
    database: Database = None,
    every: Annotated[str, typer.Option(metavar="SPAN", help="The refresh interval.")] = "1s",
    once: Annotated[
        bool, typer.Option("--once", help="Print one frame and exit; the default without a terminal.")
    ] = False,
    json: Json = False,
) -> None:
    """Watch a database: queues, slots, running jobs with progress and age, throughput. q or Ctrl-C quits."""
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.output import console
    from hanbeon.cli.top.screen import print_frame, show_live
    from hanbeon.clock import seconds_of
    from hanbeon.errors import InvalidInput

    seconds = seconds_of(every, "every")
    if seconds < _MIN_SECONDS:
        raise InvalidInput(Rule("must_be", what=Rule("hundred_milliseconds"), got=quoted(every)), field="every")
    out = console()
    if once or json or not out.is_terminal or out.is_dumb_terminal:
        run(print_frame(out, database, json=json))
    else:
        run(show_live(out, database, seconds))
