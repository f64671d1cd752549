"""`hanbeon export`: the group and its commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli import exits
from hanbeon.cli.groups import group
from hanbeon.cli.installation import ask
from hanbeon.cli.options import Database, Json
from hanbeon.surfaces.exports.jobs import JobType
from hanbeon.surfaces.exports.vocabulary import ExportStatus

if TYPE_CHECKING:
    from hanbeon.surfaces.exports import schemas
    from hanbeon.surfaces.installation import Installation

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


_LOCAL = "local"
_LONGEST_PAUSE = 0.2


def upload(file: ReplayPath, database: Database = None, user: User = _LOCAL, json: Json = False) -> None:
    """Upload a replay and print its number."""
    from hanbeon.cli.output import print_json

    made = ask(database, lambda app: app.replays.upload(file, by=user))
    if json:
        print_json(made)
        return
    typer.echo(made.replay_id)


def replays(
    database: Database = None, user: User = _LOCAL, page: PageNumber = 0, size: PageSize = 20, json: Json = False
) -> None:
    """List the replays of a user, newest first."""
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.surfaces.exports.command_output import REPLAY_HEADINGS, replay_row

    found = ask(database, lambda app: app.replays.list(page=page, size=size, by=user))
    if json:
        print_json(found)
        return
    print_table(REPLAY_HEADINGS, [replay_row(each) for each in found.items], empty="no replays")


def delete_replay(replay: ReplayId, database: Database = None, user: User = _LOCAL) -> None:
    """Delete a replay of which no export is unfinished."""
    ask(database, lambda app: app.replays.delete(replay, by=user))


def mp4(
    replay: ReplayId,
    database: Database = None,
    user: User = _LOCAL,
    width: Width = None,
    height: Height = None,
    fps: Fps = None,
    start_ms: Start = None,
    length_ms: Length = None,
    wait: Wait = False,
    output: Output = None,
    json: Json = False,
) -> None:
    """Export a replay to a video, and print the export's number."""
    options = _given(width=width, height=height, fps=fps, start_ms=start_ms, length_ms=length_ms)
    _export(database, lambda app: app.exports.export_mp4(replay, by=user, **options), user, wait, output, json)


def thumbnail(
    replay: ReplayId,
    database: Database = None,
    user: User = _LOCAL,
    width: Width = None,
    height: Height = None,
    start_ms: Start = None,
    length_ms: Length = None,
    wait: Wait = False,
    output: Output = None,
    json: Json = False,
) -> None:
    """Export a picture of a replay's liveliest moment, and print the export's number."""
    options = _given(width=width, height=height, start_ms=start_ms, length_ms=length_ms)
    _export(database, lambda app: app.exports.export_thumbnail(replay, by=user, **options), user, wait, output, json)


def list_(
    database: Database = None,
    user: User = _LOCAL,
    type: TypeFilter = None,
    status: StatusFilter = None,
    page: PageNumber = 0,
    size: PageSize = 20,
    json: Json = False,
) -> None:
    """List the exports of a user, newest first."""
    from hanbeon.cli.output import print_json, print_table
    from hanbeon.surfaces.exports.command_output import EXPORT_HEADINGS, export_row

    found = ask(database, lambda app: app.exports.list(job_type=type, status=status, page=page, size=size, by=user))
    if json:
        print_json(found)
        return
    print_table(EXPORT_HEADINGS, [export_row(each) for each in found.items], empty="no matching exports")


def show(export: ExportId, database: Database = None, user: User = _LOCAL, json: Json = False) -> None:
    """Show an export: its status, progress and result."""
    _print(ask(database, lambda app: app.exports.get(export, by=user)), json)


def cancel(export: ExportId, database: Database = None, user: User = _LOCAL, json: Json = False) -> None:
    """Cancel an export; running work is stopped."""
    _print(ask(database, lambda app: app.exports.cancel(export, by=user)).job, json)


def download(export: ExportId, file: Target, database: Database = None, user: User = _LOCAL) -> None:
    """Copy the file of an export that has succeeded."""
    ask(database, lambda app: app.exports.download(export, file, by=user))


def explain(export: ExportId, database: Database = None, user: User = _LOCAL, json: Json = False) -> None:
    """Explain why an export does not run."""
    from hanbeon.cli.output import print_json
    from hanbeon.quotation import plain

    found = ask(database, lambda app: app.exports.explain(export, by=user))
    if json:
        print_json(found)
        return
    for reason in found.reasons:
        typer.echo(f"{reason['code']}: {plain(reason['text'])}")


def _export(
    database: str | None,
    create: Callable[[Installation], Awaitable[schemas.ExportCreated]],
    user: str,
    wait: bool,
    output: Path | None,
    json: bool,
) -> None:
    from hanbeon.cli.output import print_json
    from hanbeon.surfaces.exports.vocabulary import ExportStatus

    async def work(app: Installation) -> Any:
        made = await create(app)
        if not wait and output is None:
            return made
        found = await _until_ended(app, made, user, quiet=json)
        if output is not None and found.status is ExportStatus.SUCCEEDED:
            await app.exports.download(found, output, by=user)
        return found

    found = ask(database, work)
    if json:
        print_json(found)
    elif wait or output is not None:
        _print(found, json)
    else:
        typer.echo(found.job_id)
    if (wait or output is not None) and found.status is not ExportStatus.SUCCEEDED:
        raise typer.Exit(exits.FAILED)


async def _until_ended(installation: Installation, made: Any, user: str, *, quiet: bool) -> schemas.Export:
    """Wait until the export has ended; show its progress on stderr."""
    from hanbeon.cli.installation import hints_of
    from hanbeon.wait import until

    last = ""

    async def read() -> schemas.Export:
        nonlocal last
        found = await installation.exports.get(made, by=user)
        line = f"{found.status} {found.progress} % {found.phase}"
        if line != last and found.is_unfinished and not quiet:
            typer.echo(line, err=True)
        last = line
        return found

    return await until(read, lambda export: not export.is_unfinished, hints_of(installation), longest=_LONGEST_PAUSE)


def _print(export: schemas.Export, json: bool) -> None:
    from hanbeon.cli.output import print_facts, print_json
    from hanbeon.surfaces.exports.command_output import export_facts

    if json:
        print_json(export)
        return
    print_facts(export_facts(export))


def _given(**options: Any) -> Any:
    return {name: value for name, value in options.items() if value is not None}


export = group("Upload replays, export them to videos and thumbnails, and download these.")

# In the order of the help.
export.command()(upload)
export.command()(replays)
export.command("delete-replay")(delete_replay)
export.command()(mp4)
export.command()(thumbnail)
export.command("list")(list_)
export.command()(show)
export.command()(cancel)
export.command()(download)
export.command()(explain)
