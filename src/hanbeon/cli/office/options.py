"""Arguments and options shared by the office commands."""

from __future__ import annotations

from typing import Annotated

import typer

from hanbeon.cli.completion import office_names
from hanbeon.surfaces.offices.vocabulary import JobStatus

Office = Annotated[
    str,
    typer.Argument(
        metavar="OFFICE",
        help="The office's id, or its name if it is unique.",
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
