"""Arguments and options of `hanbeon chain`."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.surfaces.chains.literals import ChainState, OnBackwardFailure, OnUnknown

ChainId = Annotated[str, typer.Argument(metavar="CHAIN", help="The chain's number, its queue_id.", show_default=False)]
Library = Annotated[
    str | None,
    typer.Option("--library", metavar="MODULE", help="The module that has the operations.", show_default=False),
]
Forward = Annotated[
    str | None,
    typer.Option("--forward", metavar="NAME", help="The forward operation; by default none.", show_default=False),
]
Backward = Annotated[
    str | None,
    typer.Option("--backward", metavar="NAME", help="The backward operation; by default none.", show_default=False),
]
ExpiredTime = Annotated[
    float | None,
    typer.Option(
        "--expired-time", metavar="SECONDS", help="Time limit of each operation; by default 30.", show_default=False
    ),
]
Retries = Annotated[
    int | None, typer.Option("--retries", metavar="N", help="Retries of each operation.", show_default=False)
]
Unknown = Annotated[
    OnUnknown | None,
    typer.Option("--on-unknown", help="When a worker is lost in a forward operation.", show_default=False),
]
BackwardFailure = Annotated[
    OnBackwardFailure | None,
    typer.Option("--on-backward-failure", help="When a backward operation fails.", show_default=False),
]
StateFilter = Annotated[
    ChainState | None, typer.Option("--state", help="Only chains in this state.", show_default=False)
]
Context = Annotated[
    str | None, typer.Option("--context", metavar="JSON", help="The first context, an object.", show_default=False)
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show the walk until it ends or is blocked.")]
