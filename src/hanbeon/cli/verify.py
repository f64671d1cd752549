"""`hanbeon verify`"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli import exits
from hanbeon.cli.options import Database

if TYPE_CHECKING:
    from hanbeon.service.auditor import Watch
    from hanbeon.service.verify import VerifyReport
    from hanbeon.settings import Settings
    from hanbeon.store.operations.audit import Window

_BAR_WIDTH = 40
_MOMENT = "Moment in ISO-8601, in the time zone of the settings if it has no offset."


def verify(
    database: Database = None,
    queue: Annotated[str | None, typer.Option(help="Audit the jobs of this queue only.")] = None,
    since: Annotated[
        str | None, typer.Option(help=f"Audit events from then on, and jobs that have not ended before. {_MOMENT}")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help=f"Audit events before that, and jobs that had ended by then. {_MOMENT}")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep what was done in this file, and continue from there if it exists."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the full report as one JSON document.")] = False,
) -> None:
    """Audit a database: every transition legal, no job claimed twice, no event missing. Exits with 1 if unsound."""
    import msgspec

    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import database_settings
    from hanbeon.service.verify import render

    settings = database_settings(database)
    window = _window(settings, queue, since, until)
    with _progress() as watch:
        report = run(_audit(settings.database_url, window, resume, watch))
    if json:
        found = msgspec.to_builtins(report)
        typer.echo(msgspec.json.encode({"sound": report.sound, **found.pop("counts"), **found}).decode())
    else:
        typer.echo(render(report, zone=settings.zone))
    if not report.sound:
        raise typer.Exit(exits.FAILED)


def _window(settings: Settings, queue: str | None, since: str | None, until: str | None) -> Window:
    from hanbeon.errors import InvalidInput
    from hanbeon.rule import Rule
    from hanbeon.store.operations.audit import Window
    from hanbeon.surfaces.moment import instant_of

    begin = None if since is None else instant_of(since, "since", settings.zone)
    end = None if until is None else instant_of(until, "until", settings.zone)
    if begin is not None and end is not None and end <= begin:
        raise InvalidInput(Rule("until_before_since"), field="until")
    return Window(queue, begin, end)


async def _audit(url: str, window: Window, resume: Path | None, watch: Watch | None) -> VerifyReport:
    """Return the report on a database that exists."""
    from hanbeon.cli.app_loader import refuse_missing_file
    from hanbeon.surfaces.store_parts import whole_store
    from hanbeon.surfaces.verify import verify

    refuse_missing_file(url)
    store = whole_store(url)
    try:
        await store.open()
        return await verify(store, window=window, resume=resume, watch=watch)
    finally:
        await store.close()


@contextlib.contextmanager
def _progress() -> Iterator[Watch | None]:
    """Show the step and the share that is done as a transient bar on stderr, if that is a terminal."""
    from rich.console import Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from hanbeon.cli.output import console

    err = console(stderr=True)
    if not err.is_terminal or err.is_dumb_terminal:
        yield None
        return
    with Live(console=err, auto_refresh=False, transient=True) as live:
        shown = -1

        def watch(step: str, share: float) -> None:
            nonlocal shown
            if (percent := int(share * 100)) != shown:
                shown = percent
                line = Table.grid(padding=(0, 1))
                line.add_row("verify", ProgressBar(100, percent, width=_BAR_WIDTH), f"{percent:3}%", step)
                live.update(Group(line), refresh=True)

        yield watch
