"""Arguments and options of `hanbeon export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.vocabulary import ExportStatus

ReplayPath = Annotated[Path, typer.Argument(metavar="FILE", help="The replay's file.", show_default=False)]
ReplayId = Annotated[str, typer.Argument(metavar="REPLAY", help="The replay's number.", show_default=False)]
ExportId = Annotated[str, typer.Argument(metavar="EXPORT", help="The export's number, its jobId.", show_default=False)]
User = Annotated[str, typer.Option("--user", metavar="NAME", help="The user whose it is.")]
Width = Annotated[int | None, typer.Option("--width", metavar="N", help="In pixels; even.", show_default=False)]
Height = Annotated[int | None, typer.Option("--height", metavar="N", help="In pixels; even.", show_default=False)]
Fps = Annotated[int | None, typer.Option("--fps", metavar="N", help="Frames a second.", show_default=False)]
Start = Annotated[
    int | None, typer.Option("--start-ms", metavar="N", help="Where it begins, in milliseconds.", show_default=False)
]
Length = Annotated[
    int | None, typer.Option("--length-ms", metavar="N", help="How long it is, in milliseconds.", show_default=False)
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show its progress.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="With --wait: download the file to this path.", show_default=False
    ),
]
Target = Annotated[Path, typer.Argument(metavar="FILE", help="Where to; no file may be there.", show_default=False)]
TypeFilter = Annotated[JobType | None, typer.Option("--type", help="Only exports of this type.", show_default=False)]
StatusFilter = Annotated[
    ExportStatus | None, typer.Option("--status", help="Only exports with this status.", show_default=False)
]
PageNumber = Annotated[int, typer.Option("--page", metavar="N", help="The page, from 0.")]
PageSize = Annotated[int, typer.Option("--size", metavar="N", help="The most entries of a page.")]
