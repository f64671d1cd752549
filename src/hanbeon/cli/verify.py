"""`hanbeon verify`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hanbeon.cli import exits
from hanbeon.cli.options import Database

if TYPE_CHECKING:
    from hanbeon.service.verify import VerifyReport


def verify(
    database: Database = None,
    json: Annotated[bool, typer.Option("--json", help="Print the full report as one JSON document.")] = False,
) -> None:
    """Audit a database: every transition legal, no job claimed twice, no event missing. Exits with 1 if unsound."""
    import msgspec

    from hanbeon.cli.event_loop import run
    from hanbeon.cli.location import database_settings
    from hanbeon.service.verify import render

    settings = database_settings(database)
    report = run(audit(settings.database_url))
    if json:
        found = msgspec.to_builtins(report)
        typer.echo(msgspec.json.encode({"sound": report.sound, **found.pop("counts"), **found}).decode())
    else:
        typer.echo(render(report, zone=settings.zone))
    if not report.sound:
        raise typer.Exit(exits.FAILED)


async def audit(url: str) -> VerifyReport:
    """Return the report on a database that exists."""
    from hanbeon.cli.app_loader import refuse_missing_file
    from hanbeon.surfaces.store_parts import whole_store
    from hanbeon.surfaces.verify import verify

    refuse_missing_file(url)
    store = whole_store(url)
    try:
        await store.open()
        return await verify(store)
    finally:
        await store.close()
