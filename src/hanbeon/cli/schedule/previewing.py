"""The command that tells times to come: preview."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hanbeon.cli.completion import schedule_names
from hanbeon.cli.options import Database, Json
from hanbeon.cli.schedule.options import DstFold, DstGap, Timezone

if TYPE_CHECKING:
    from hanbeon.surfaces.schedules import schemas

# What only an expression begins with, so that one with a slip in it is not looked for among the names.
_EXPRESSION = re.compile(r"@|[\d*?][\d*?/,-]*\s")


def preview(
    schedule: Annotated[
        str,
        typer.Argument(
            metavar="SCHEDULE",
            help='The name or the id of a schedule, or a cron expression: "0 9 * * MON-FRI".',
            autocompletion=schedule_names,
        ),
    ],
    n: Annotated[int, typer.Option("-n", metavar="N", help="How many fires.")] = 10,
    timezone: Timezone = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="From this moment on, not from now.", show_default=False),
    ] = None,
    dst_gap: DstGap = None,
    dst_fold: DstFold = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Show when a schedule fires next, or when an expression would, with notes where the clocks change.

    For an expression no database is needed. The other options are for expressions: a schedule has its own.
    """
    from hanbeon.cli.output import print_json
    from hanbeon.errors import InvalidInput

    given = {"timezone": timezone, "from": start, "dst_gap": dst_gap, "dst_fold": dst_fold}
    if _EXPRESSION.match(schedule.strip()):
        found = _of_expression({"cron": schedule, "n": n, **given})
    else:
        for option, value in given.items():
            if value is not None:
                raise InvalidInput(
                    f"schedule {schedule!r} has its own; leave it out, or give an expression", field=option
                )
        found = _of_schedule(database, schedule, n)
    if json:
        print_json({"fires": found})
    else:
        print_fires(found)


def _of_expression(told: dict[str, Any]) -> list[schemas.PreviewedFire]:
    from hanbeon.cli.config_option import settings_here
    from hanbeon.clock import SystemClock
    from hanbeon.surfaces.schedules.preview import preview_request

    return preview_request(told, settings_here().zone).answer(SystemClock().now_us()).fires


def _of_schedule(database: str | None, typed: str, n: int) -> list[schemas.PreviewedFire]:
    from hanbeon.cli.event_loop import run
    from hanbeon.cli.open_app import open_app
    from hanbeon.cli.schedule.opening import find

    async def work() -> list[schemas.PreviewedFire]:
        async with open_app(database) as app:
            return await app.schedules.preview(await find(app, typed), n=n)

    return run(work())


def print_fires(fires: Sequence[schemas.PreviewedFire]) -> None:
    from hanbeon.cli.output import print_table
    from hanbeon.cli.schedule.showing import to_seconds

    rows = [(to_seconds(each.at), each.note or "") for each in fires]
    print_table(("next fires", "notes"), rows, empty="it fires no more")
