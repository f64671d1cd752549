"""Arguments and options of `hanbeon workflow`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hanbeon.surfaces.workflows.literals import WorkflowStatus

WorkflowId = Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's id.", show_default=False)]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.", show_default=False)]
DefinitionFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A JSON file with the fields of the workflow; - reads stdin.", show_default=False
    ),
]
StatusFilter = Annotated[
    WorkflowStatus | None, typer.Option("--status", help="Only workflows in this status.", show_default=False)
]
Activate = Annotated[bool, typer.Option("--activate", help="Activate it at once.")]
