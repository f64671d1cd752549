"""Arguments and options that several of these commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.completion import office_names
from hanbeon.surfaces.offices.vocabulary import JobStatus

Office = Annotated[
    str,
    typer.Argument(
        metavar="OFFICE",
        help="Its id, or its name if no other has it.",
        autocompletion=office_names,
        show_default=False,
    ),
]
Role = Annotated[str | None, typer.Option(metavar="NAME", help="Only jobs of this role.", show_default=False)]
Item = Annotated[
    str | None,
    typer.Option("--task-id", metavar="TEXT", help="Only jobs of this work item.", show_default=False),
]
Statuses = Annotated[
    list[JobStatus] | None,
    typer.Option("--status", metavar="STATUS", help="Only jobs with this status; may be repeated.", show_default=False),
]
Cursor = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Go on where the page before ended.", show_default=False)
]
Limit = Annotated[int, typer.Option(metavar="N", help="How many at the most.")]
